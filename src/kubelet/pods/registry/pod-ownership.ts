import type {Pod} from '../../../api/types/v1-pod.js';
import {podRef} from '../../contract/pod-ref.js';
import {ManagedByKubeletError, OtherRuntimeError, SupersededError} from '../pod-errors.js';
import type {PodRegistryOptions} from './pod-registry-options.js';
import type {PodRecord, PodStore} from './pod-store.js';
import {findKubelet} from './running-kubelet.js';

/**
 * Resolves when this process may change the pod. Rejects with OtherRuntimeError when the pod was created on another
 * runtime, and with ManagedByKubeletError when a kubelet that runs on the same runtime manages the pod: it would
 * recreate a deleted pod at once.
 */
export async function requireOwnership(
  record: PodRecord,
  {endpoint, node}: Pick<PodRegistryOptions, 'endpoint' | 'node'>,
): Promise<void> {
  if (record.endpoint !== endpoint) throw new OtherRuntimeError(record, record.endpoint, endpoint);
  if (record.manager !== 'kubelet') return;
  const kubelet = await findKubelet(node.rootDir);
  if (kubelet?.endpoint === endpoint) throw new ManagedByKubeletError(record, kubelet.pid, record.source);
}

/**
 * Resolves if the pod's record still holds the spec that this process wrote. Rejects with SupersededError if another
 * process has deleted or changed the pod. The caller holds the pod's lock.
 */
export async function requireNotSuperseded(pod: Pod, store: Pick<PodStore, 'get'>): Promise<void> {
  const ref = podRef(pod);
  const record = await store.get(ref.uid);
  if (record === undefined) throw new SupersededError(ref, 'deleted');
  if (JSON.stringify(record.pod.spec) !== JSON.stringify(pod.spec)) throw new SupersededError(ref, 'changed');
}
