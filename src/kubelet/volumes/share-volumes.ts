import {join} from 'node:path';
import type {Container, Pod} from '../../api/v1.js';
import {podDir, type NodeFacts} from '../container/node.js';
import {podRef} from '../container/pod-ref.js';
import {holdingMount, systemMounter, type Mounter} from './mounts.js';

/**
 * True when a container wants mounts to appear in a volume that is below the pod's directory, or on the node when it
 * mounts something there. What of the node is shared is the node's business.
 */
export function wantsPropagation({spec}: Pod): boolean {
  const ofNode = new Set(
    (spec.volumes ?? []).filter(({hostPath}) => hostPath !== undefined).map(({name}) => name),
  );
  const all: readonly Container[] = [
    ...spec.containers,
    ...(spec.initContainers ?? []),
    ...(spec.ephemeralContainers ?? []),
  ];
  return all
    .flatMap(({volumeMounts = []}) => volumeMounts)
    .some(({name, mountPropagation = 'None'}) => mountPropagation !== 'None' && !ofNode.has(name));
}

/**
 * Makes the pod's volumes a shared mount when one of its containers wants propagation and the machine's mounts are
 * private: a kubelet does that with its whole root directory when it starts (setupDataDirs), kcri with no more than the
 * pod needs, so that it goes with the pod. The directory must exist; idempotent, also after a crash. Rejects with
 * SystemError.
 */
export async function shareVolumes(
  node: Pick<NodeFacts, 'rootDir'>,
  pod: Pod,
  mounter: Mounter = systemMounter,
): Promise<void> {
  if (!wantsPropagation(pod)) return;
  const directory = join(podDir(node, podRef(pod).uid), 'volumes');
  const {mount, below} = await holdingMount(directory, mounter);
  if (mount.shared) return;
  if (below !== '') await mounter.bindToItself(directory);
  await mounter.makeShared(directory);
}
