import type {Clock} from '../../../../base/clock.js';
import type {Logger} from '../../../../base/logger.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import type {CsiCluster} from '../../../contract/volumes/csi-cluster.js';
import type {LoopDevices} from '../block/loop-devices.js';
import type {Mounter} from '../mounter.js';
import type {CsiDrivers} from './csi-drivers.js';
import type {CsiMetrics} from './csi-metrics.js';
import type {AllocatableUpdates} from './limits/allocatable-updates.js';
import type {StagedVolumes} from './staged-volumes.js';

/** What the volumes of CSI drivers work with. */
export interface CsiServices {
  readonly node: Pick<NodeFacts, 'rootDir' | 'nodeName' | 'selinuxEnabled'>;
  readonly drivers: CsiDrivers;
  readonly staged: StagedVolumes;
  /** None in a kubelet without a cluster: then there is no CSIDriver object and no attachment. */
  readonly cluster: CsiCluster | undefined;
  /** Updates of the volume limits of the node; none without a cluster. */
  readonly limits?: AllocatableUpdates | undefined;
  readonly metrics: CsiMetrics;
  readonly mounter: Mounter;
  readonly loops: LoopDevices;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Directory of the configuration of SELinux; /etc/selinux by default. */
  readonly selinuxDir?: string;
  /** Ends the operations of the volumes when the kubelet stops. */
  readonly signal: AbortSignal;
}
