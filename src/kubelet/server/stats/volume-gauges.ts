import type {Pod} from '../../../api/types/v1-pod.js';
import {podRef} from '../../contract/pod-ref.js';
import type {MetricFamily, Sample} from '../../managers/metrics/exposition.js';
import type {ServedKubelet} from '../served-kubelet.js';
import type {ClaimReference, VolumeUsage} from './storage/measured-volume.js';

/** Label of volumes without a plugin (pluginNameNotAvailable). */
const NO_PLUGIN = 'N/A';

type VolumeHolder = Pick<ServedKubelet, 'pods' | 'isActive' | 'workers' | 'volumes'>;

/** Counts the volumes to mount and the mounted ones by plugin (volumemanager/metrics). */
export function collectVolumeCounts(kubelet: VolumeHolder): MetricFamily {
  const desired = kubelet.pods().filter((pod) => kubelet.isActive(podRef(pod).uid));
  // Pods that are no longer desired have volumes until they have stopped.
  const present = kubelet.workers().flatMap(({pod}) => (pod === undefined ? [] : [pod]));
  const mounted = present.flatMap((pod) => kubelet.volumes(pod).filter(({isMounted}) => isMounted));
  return {
    name: 'volume_manager_total_volumes',
    help: 'Number of volumes in Volume Manager',
    stability: 'ALPHA',
    type: 'gauge',
    samples: [
      ...countByPlugin('actual_state_of_world', mounted),
      ...countByPlugin(
        'desired_state_of_world',
        desired.flatMap((pod) => kubelet.volumes(pod)),
      ),
    ],
  };
}

function countByPlugin(
  state: string,
  volumes: readonly {readonly plugin: string | undefined}[],
): readonly Sample[] {
  const counts = new Map<string, number>();
  for (const {plugin = NO_PLUGIN} of volumes) counts.set(plugin, (counts.get(plugin) ?? 0) + 1);
  return [...counts].map(([plugin, value]) => ({labels: {plugin_name: plugin, state}, value}));
}

/** Reports whether a container of the pod mounts a PersistentVolumeClaim. */
export function hasClaims(kubelet: Pick<ServedKubelet, 'volumes'>, pod: Pod): boolean {
  return kubelet.volumes(pod).some(({claim}) => claim !== undefined);
}

/** A volume with a claim, whose filesystem could be read. */
interface ClaimUsage {
  readonly claim: ClaimReference;
  readonly usage: VolumeUsage;
}

/** Returns the usage of the volumes with a PersistentVolumeClaim, each claim once (collectors/volume_stats.go). */
export function collectVolumeStats(measured: readonly VolumeUsage[]): readonly MetricFamily[] {
  const claims = new Map<string, ClaimUsage>();
  for (const usage of measured) {
    const {claim} = usage;
    const key = claim === undefined ? undefined : `${claim.namespace}/${claim.name}`;
    if (claim !== undefined && key !== undefined && !claims.has(key)) claims.set(key, {claim, usage});
  }
  return VOLUME_STATS.map(([name, help, read]) => ({
    ...{name: `kubelet_volume_stats_${name}`, help, stability: 'ALPHA', type: 'gauge'},
    samples: [...claims.values()].flatMap(({claim, usage}): readonly Sample[] => {
      const value = read(usage);
      const labels = {namespace: claim.namespace, persistentvolumeclaim: claim.name};
      return value === undefined ? [] : [{labels, value: Number(value)}];
    }),
  }));
}

const VOLUME_STATS: readonly (readonly [string, string, (usage: VolumeUsage) => bigint | undefined])[] = [
  ['capacity_bytes', 'Capacity in bytes of the volume', ({capacity}) => capacity.capacityBytes],
  ['available_bytes', 'Number of available bytes in the volume', ({capacity}) => capacity.availableBytes],
  ['used_bytes', 'Number of used bytes in the volume', ({usedBytes}) => usedBytes],
  ['inodes', 'Maximum number of inodes in the volume', ({capacity}) => capacity.inodes],
  ['inodes_free', 'Number of free inodes in the volume', ({capacity}) => capacity.inodesFree],
  ['inodes_used', 'Number of used inodes in the volume', ({inodesUsed}) => inodesUsed],
];
