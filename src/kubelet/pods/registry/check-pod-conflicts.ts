import type {Pod} from '../../../api/types/v1-pod.js';
import {SystemError} from '../../../base/errors.js';
import {findRejection} from '../admission/admit-pod.js';
import {reportUnknownResources} from '../admission/unknown-resources.js';
import {canResizePod} from '../allocation/resize-admission.js';
import {allocationOf, isAllocated} from '../../resources/pod-allocation.js';
import {namespacedName, podRef, type PodRef} from '../../contract/pod-ref.js';
import {POD_UID_LABEL} from '../../managers/kuberuntime/config/labels.js';
import type {PodRegistryOptions} from './pod-registry-options.js';
import {PodRejectedError, ResizeRejectedError, createUidConflictError} from '../pod-errors.js';
import type {NodePodSnapshot} from './node-pod-snapshot.js';
import {requireOwnership} from './pod-ownership.js';
import type {BrokenRecord, PodRecord, PodStore} from './pod-store.js';

/** Existing records that a pod replaces. */
export interface PodConflicts {
  /** The pod's own record; undefined for a new pod. */
  readonly known: PodRecord | undefined;
  /** The pod of the same name that must be deleted first: one with another UID, or itself if it is replaced. */
  readonly older: PodRecord | undefined;
}

/** Options of checkPodConflicts. */
export interface PodConflictOptions extends Pick<
  PodRegistryOptions,
  'endpoint' | 'node' | 'observer' | 'nodeManagers'
> {
  readonly store: Pick<PodStore, 'get'>;
  readonly snapshot: NodePodSnapshot;
  /** True to treat the pod's own record as that of an older pod. */
  readonly replace?: boolean | undefined;
}

/**
 * Checks a pod against the other pods of the node and returns the records that it replaces. Changes nothing. Rejects
 * with SystemError when its UID belongs to another pod or a pod of its name has an unreadable record, with
 * OtherRuntimeError when the pod or the older one was created on another runtime, with ManagedByKubeletError when a
 * kubelet manages one of them, and with PodRejectedError or ResizeRejectedError when the node does not admit the pod.
 */
export async function checkPodConflicts(pod: Pod, options: PodConflictOptions): Promise<PodConflicts> {
  const ref = podRef(pod);
  const {store, snapshot, node, replace = false} = options;
  const found = await store.get(ref.uid);
  if (found === undefined) await requireUnusedUid(ref, snapshot, node.rootDir);
  else if (found.namespace !== ref.namespace || found.name !== ref.name)
    throw createUidConflictError(ref, found);
  const {records, broken} = await snapshot.records();
  await requireReadableNamesake(ref, broken, snapshot);
  const {known, older} = findExisting(found, records, {ref, replace});
  for (const record of [known, older]) if (record !== undefined) await requireOwnership(record, options);
  await requireAdmission(pod, {known, older}, options);
  return {known, older};
}

/** Returns the existing pod and the pod to delete first; a replaced pod is deleted itself. */
function findExisting(
  found: PodRecord | undefined,
  records: readonly PodRecord[],
  {ref, replace}: {readonly ref: PodRef; readonly replace: boolean},
): PodConflicts {
  const namesake = records.find(({namespace, name}) => namespace === ref.namespace && name === ref.name);
  if (replace) return {known: undefined, older: namesake};
  return {
    known: found?.removedAt === undefined ? found : undefined,
    older: namesake?.uid === ref.uid ? undefined : namesake,
  };
}

async function requireUnusedUid(ref: PodRef, snapshot: NodePodSnapshot, rootDir: string): Promise<void> {
  // Only kubelets also add the UID to the labels.
  const sandboxes = await snapshot.sandboxes();
  if (!sandboxes.some(({metadata, labels}) => [metadata?.uid, labels[POD_UID_LABEL]].includes(ref.uid)))
    return;
  throw new SystemError(
    `the UID "${ref.uid}" is in use by a pod that kcri did not create with root directory "${rootDir}"`,
    {hint: 'set another metadata.uid in the manifest, or delete that pod with the tool that created it'},
  );
}

/**
 * Rejects when a running pod of that name has an unreadable record, since it could not be deleted before this one
 * starts.
 */
async function requireReadableNamesake(
  ref: PodRef,
  broken: readonly BrokenRecord[],
  snapshot: NodePodSnapshot,
): Promise<void> {
  if (broken.length === 0) return;
  const namesakes = (await snapshot.sandboxes()).filter(
    ({metadata}) => metadata?.namespace === ref.namespace && metadata.name === ref.name,
  );
  for (const {uid, error} of broken)
    if (namesakes.some(({metadata}) => metadata?.uid === uid))
      throw new SystemError(`pod "${namespacedName(ref)}" already exists: ${error.message}`, {
        cause: error,
        hint: `run "kcri delete ${uid}" to delete it, or restore the file`,
      });
}

/** Rejects unless the node admits the new pod, or the resize, beside the active pods. */
async function requireAdmission(
  pod: Pod,
  {known, older}: PodConflicts,
  {snapshot, node, observer, nodeManagers}: PodConflictOptions,
): Promise<void> {
  const allocation = known && allocationOf(known.pod);
  if (allocation !== undefined && isAllocated(pod, allocation)) return;
  const except = (known ?? older)?.uid;
  const active = await snapshot.active();
  const others = active.filter(({uid}) => uid !== except).map((record) => record.pod);
  if (allocation !== undefined) {
    const decision = canResizePod({pod, allocation, others, node, admission: true});
    if (decision.kind === 'pending') throw new ResizeRejectedError(podRef(pod), decision.pending);
    return;
  }
  const rejection = findRejection({pod, others, node});
  if (rejection === undefined) {
    reportUnknownResources(pod, observer.event, (name) => nodeManagers?.offersResource(name) === true);
    return;
  }
  observer.event({type: 'Warning', reason: rejection.reason, message: rejection.message, pod});
  throw new PodRejectedError(podRef(pod), rejection);
}
