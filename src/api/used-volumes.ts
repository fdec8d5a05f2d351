import {allContainersOf} from './pod-containers.js';
import type {Pod} from './types/v1-pod.js';
import type {Volume} from './types/v1-volumes.js';

/** Names of the volumes of a pod by how its containers use them. */
export interface VolumeUses {
  readonly mounts: ReadonlySet<string>;
  readonly devices: ReadonlySet<string>;
}

/** Returns how containers of the pod use its volumes (GetPodVolumeNames). */
export function volumeUses(pod: Pod): VolumeUses {
  const containers = allContainersOf(pod);
  const mounts = containers.flatMap(({volumeMounts = []}) => volumeMounts.map(({name}) => name));
  const devices = containers.flatMap(({volumeDevices = []}) => volumeDevices.map(({name}) => name));
  return {mounts: new Set(mounts), devices: new Set(devices)};
}

/** Returns the volumes that containers of the pod use, as a filesystem or as a device. */
export function usedVolumes(pod: Pod): readonly Volume[] {
  const {mounts, devices} = volumeUses(pod);
  return (pod.spec.volumes ?? []).filter(({name}) => mounts.has(name) || devices.has(name));
}
