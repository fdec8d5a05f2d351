import type {Container, Pod} from '../../api/v1.js';
import type {Volume} from '../../api/v1-volumes.js';
import {KcriError, messageOf, SystemError} from '../../base/errors.js';
import type {NodeFacts} from '../container/node.js';
import type {MountedVolume, MountedVolumes} from '../container/pod-filesystem.js';
import {emptyDirPath, setUpEmptyDir} from './empty-dir.js';
import {setUpHostPath} from './host-path.js';
import {systemMounter, type Mounter} from './mounts.js';

/** What volumes take from the node. */
export type VolumeFacts = Pick<NodeFacts, 'rootDir' | 'cpuMilli' | 'memoryBytes' | 'ephemeralStorageBytes'>;

/**
 * Where the pod's volumes are once they are mounted, touching nothing: those that a container mounts; the kubelet
 * never sets up others. Throws SystemError for a volume that kcri has no way to mount.
 */
export function plannedVolumes(pod: Pod, node: Pick<NodeFacts, 'rootDir'>): MountedVolumes {
  return new Map(
    usedVolumes(pod).map((volume) => [volume.name, {hostPath: hostPath(pod, volume, node), readOnly: false}]),
  );
}

/**
 * Mounts the volumes that the pod's containers use, in the Pod's order. What is mounted already is kept as it is, so
 * that it can be called again at any time, also after a crash. Stops between two volumes when the signal aborts.
 * Rejects with SystemError; its message is that of the kubelet's FailedMount event.
 */
export async function mountVolumes(
  pod: Pod,
  node: VolumeFacts,
  signal: AbortSignal,
  mounter: Mounter = systemMounter,
): Promise<MountedVolumes> {
  const planned = plannedVolumes(pod, node);
  for (const volume of usedVolumes(pod)) {
    signal.throwIfAborted();
    await setUp(pod, volume, node, mounter);
  }
  return planned;
}

async function setUp(pod: Pod, volume: Volume, node: VolumeFacts, mounter: Mounter): Promise<void> {
  const {name, hostPath, emptyDir = {}} = volume;
  try {
    if (hostPath === undefined) await setUpEmptyDir(node, {pod, name, source: emptyDir}, mounter);
    else await setUpHostPath(hostPath);
  } catch (cause) {
    throw new SystemError(`MountVolume.SetUp failed for volume "${name}" : ${messageOf(cause)}`, {
      cause,
      hint: cause instanceof KcriError ? cause.hint : undefined,
    });
  }
}

function usedVolumes({spec}: Pod): readonly Volume[] {
  const all: readonly Container[] = [
    ...spec.containers,
    ...(spec.initContainers ?? []),
    ...(spec.ephemeralContainers ?? []),
  ];
  const used = new Set(all.flatMap(({volumeMounts = []}) => volumeMounts.map(({name}) => name)));
  return (spec.volumes ?? []).filter(({name}) => used.has(name));
}

function hostPath(pod: Pod, volume: Volume, node: Pick<NodeFacts, 'rootDir'>): MountedVolume['hostPath'] {
  const {name, ...source} = volume;
  const [kind = 'emptyDir'] = Object.keys(source);
  if (kind !== 'emptyDir' && kind !== 'hostPath')
    throw new SystemError(`the volume "${name}" is a ${kind}, which kcri can't mount`, {
      hint: 'use an emptyDir or a hostPath',
    });
  return volume.hostPath?.path ?? emptyDirPath(node, {pod, name, source: volume.emptyDir ?? {}});
}
