import {allContainersOf} from '../../../api/pod-containers.js';
import {join} from 'node:path';
import type {Pod} from '../../../api/types/v1-pod.js';
import {podDir, type NodeFacts} from '../../contract/node-facts.js';
import {podRef} from '../../contract/pod-ref.js';
import {findContainingMount, systemMounter, type Mounter} from './mounter.js';

/**
 * Reports whether a container uses mount propagation for a volume in the pod's directory. hostPath volumes do not
 * count.
 */
export function hasMountPropagation(pod: Pod): boolean {
  const hostPathVolumes = new Set(
    (pod.spec.volumes ?? []).filter(({hostPath}) => hostPath !== undefined).map(({name}) => name),
  );
  return allContainersOf(pod)
    .flatMap(({volumeMounts = []}) => volumeMounts)
    .some(({name, mountPropagation = 'None'}) => mountPropagation !== 'None' && !hostPathVolumes.has(name));
}

/**
 * Makes the volumes directory of a pod a shared mount if one of its containers uses propagation and the host's mounts
 * are private. The kubelet shares its whole root directory at the start (setupDataDirs); kcri shares only what the pod
 * needs, so that the mount is removed with the pod. The directory must exist. Idempotent, also after a crash. Rejects
 * with SystemError.
 */
export async function ensureSharedVolumes(
  node: Pick<NodeFacts, 'rootDir'>,
  pod: Pod,
  mounter: Mounter = systemMounter,
): Promise<void> {
  if (!hasMountPropagation(pod)) return;
  const directory = join(podDir(node, podRef(pod).uid), 'volumes');
  const {mount, below} = await findContainingMount(directory, mounter);
  if (mount.isShared) return;
  if (below !== '') await mounter.bindToItself(directory);
  await mounter.makeShared(directory);
}
