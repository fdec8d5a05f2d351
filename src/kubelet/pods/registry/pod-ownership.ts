import type {Pod} from '../../../api/types/v1-pod.js';
import {SystemError, type KcriError} from '../../../base/errors.js';
import {namespacedName, podRef, type PodRef} from '../../contract/pod-ref.js';
import type {RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import {ManagedByKubeletError, OtherRuntimeError, SupersededError} from '../pod-errors.js';
import type {PodInRuntime} from './managed-pod-set.js';
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

/** Reports whether what the runtime has of a pod without a present record belongs to another program. */
export function isForeign(removed: PodRecord | undefined, {status, isListed}: PodInRuntime): boolean {
  if (removed !== undefined && !isRecreatedByOthers(removed, status)) return false;
  return status.sandboxes.length > 0 || isListed;
}

const NANOS_PER_MS = 1_000_000n;

/**
 * Reports whether the running containers of a removed pod belong to another program. Before kcri recreates a removed
 * pod, it marks its record as present again.
 */
export function isRecreatedByOthers({removedAt}: PodRecord, {sandboxes}: RuntimePodStatus): boolean {
  if (removedAt === undefined) return false;
  const removedAtNanos = BigInt(Date.parse(removedAt)) * NANOS_PER_MS;
  return sandboxes.some(({state, createdAt}) => state === 'SANDBOX_READY' && createdAt > removedAtNanos);
}

/** Returns the error of a pod whose name or UID belongs to another kcri process or to a kubelet on another runtime. */
export function createOwnedError(ref: PodRef, owned: PodRecord, endpoint: string): KcriError {
  if (owned.manager === 'kubelet') return new OtherRuntimeError(owned, owned.endpoint, endpoint);
  const name = namespacedName(owned);
  return new SystemError(
    `cannot start pod "${namespacedName(ref)}": pod "${name}" of "kcri sync" already exists`,
    {hint: `run "kcri delete ${name}" to delete it`},
  );
}

/** Returns the error of a pod whose UID is in use by a foreign pod. */
export function createForeignError(ref: PodRef): SystemError {
  return new SystemError(
    `cannot start pod "${namespacedName(ref)}": the UID "${ref.uid}" is in use by a pod that this kubelet did not create`,
    {hint: 'set another metadata.uid in the manifest, or delete that pod with the tool that created it'},
  );
}
