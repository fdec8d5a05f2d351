import type {Clock} from '../../../../base/clock.js';
import type {Logger} from '../../../../base/logger.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import type {CsiCluster} from '../../../contract/volumes/csi-cluster.js';
import type {LoopDevices} from '../block/loop-devices.js';
import type {Mounter} from '../mounter.js';
import type {CsiDrivers} from './csi-drivers.js';
import type {StagedVolumes} from './staged-volumes.js';

/** What the volumes of CSI drivers work with. */
export interface CsiServices {
  readonly node: Pick<NodeFacts, 'rootDir' | 'nodeName'>;
  readonly drivers: CsiDrivers;
  readonly staged: StagedVolumes;
  /** None in a kubelet without a cluster: then there is no CSIDriver object and no attachment. */
  readonly cluster: CsiCluster | undefined;
  readonly mounter: Mounter;
  readonly loops: LoopDevices;
  readonly clock: Clock;
  readonly logger: Logger;
}
