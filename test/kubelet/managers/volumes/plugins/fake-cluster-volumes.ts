import {NO_METRICS, type VolumeOperation} from '../../../../../src/kubelet/contract/kubelet-metrics.js';
import {CsiMetrics} from '../../../../../src/kubelet/managers/volumes/csi/csi-metrics.js';
import {FakeClock} from '../../../../fakes/fake-clock.js';
import {PluginAttachments} from '../../../../../src/kubelet/managers/volumes/csi/attach/plugin-attachments.js';
import type {
  CsiVolumes,
  ExpandableVolume,
  NodeExpansion,
} from '../../../../../src/kubelet/contract/volumes/csi-volumes.js';

/** Part of a cluster for volumes of plugins that have no CSI driver. */
export interface FakeClusterVolumes {
  readonly csi: CsiVolumes;
  /** Volumes that are in use, as `name pod`, and `released pod`. */
  readonly uses: string[];
  /** Volumes that were to be enlarged. */
  readonly expanded: ExpandableVolume[];
}

/** Returns volumes of a cluster whose controllers attach a device, and have enlarged volumes if there are sizes. */
export function fakeClusterVolumes(device: string, sizes?: NodeExpansion): FakeClusterVolumes {
  const uses: string[] = [];
  const expanded: ExpandableVolume[] = [];
  const csi: Pick<
    CsiVolumes,
    'attachesVolumes' | 'attachments' | 'expandOther' | 'unmountPod' | 'isAttaching' | 'exceedsLimit'
  > = {
    attachesVolumes: true,
    attachments: {
      use: (name, uid) => uses.push(`${name} ${uid}`),
      untilAttached: async () => device,
      release: async (uid) => void uses.push(`released ${uid}`),
    },
    expandOther: async (volume, {signal}) => {
      expanded.push(volume);
      if (sizes !== undefined) await volume.expandOnNode(sizes, signal);
      return true;
    },
    unmountPod: async () => undefined,
    isAttaching: () => false,
    exceedsLimit: async () => false,
  };
  return {csi: csi as CsiVolumes, uses, expanded};
}

/** Returns the volumes of a cluster whose controllers have attached `/dev/disk9`, or never do, and what of them is in use. */
export function attachingCluster(untilAttached: () => Promise<string> = async () => '/dev/disk9') {
  let changes = 0;
  const operations: string[] = [];
  const volumeOperated = ({plugin, operation, isSuccessful}: VolumeOperation): void =>
    void operations.push(`${plugin} ${operation} ${isSuccessful}`);
  const metrics = new CsiMetrics({...NO_METRICS, volumeOperated}, new FakeClock());
  const attachments = new PluginAttachments({untilAttached}, () => (changes += 1), metrics);
  const csi: CsiVolumes = {...fakeClusterVolumes('').csi, attachments};
  return {attachments, csi, changes: () => changes, operations};
}
