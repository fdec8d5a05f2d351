import type {Pod} from '../api/v1.js';
import {SystemError} from '../base/errors.js';
import {rejectionOf} from './admission/admit-pod.js';
import {tellUnknownResources} from './admission/unknown-resources.js';
import {judgeResize} from './allocation/judge-resize.js';
import {allocationOf, isAllocated} from './container/pod-allocation.js';
import {namespacedName, podRef, type PodRef} from './container/pod-ref.js';
import {findKubelet} from './kubelet-file.js';
import {POD_UID_LABEL} from './kuberuntime/labels.js';
import type {LocalPodsOptions} from './local-pods-options.js';
import {
  KeptByKubeletError,
  OtherRuntimeError,
  PodRejectedError,
  ResizeRejectedError,
  uidOfAnother,
} from './pod-error.js';
import type {PodNeighbours} from './pod-neighbours.js';
import type {BrokenRecord, PodRecord, PodStore} from './pod/pod-store.js';

/** How a pod stands to what is there already. */
export interface Standing {
  /** The pod's own record: undefined for a new one. */
  readonly known: PodRecord | undefined;
  /** The pod of the same name, made from another content, that has to be ended first. */
  readonly older: PodRecord | undefined;
}

/** What is looked at to tell how a pod stands. */
export interface StandingOptions extends Pick<LocalPodsOptions, 'endpoint' | 'node' | 'observer'> {
  readonly store: Pick<PodStore, 'get'>;
  readonly neighbours: PodNeighbours;
}

/**
 * How the pod stands to what kcri and others run already. Rejects with SystemError when its UID belongs to
 * another pod or when a pod of that name runs whose record is broken, with OtherRuntimeError when the pod or the
 * older one was made on another runtime, with KeptByKubeletError when a daemon keeps one of them, and with
 * PodRejectedError or ResizeRejectedError when the node doesn't take the pod. Changes nothing.
 */
export async function podStanding(pod: Pod, options: StandingOptions): Promise<Standing> {
  const ref = podRef(pod);
  const {store, neighbours, node} = options;
  const found = await store.get(ref.uid);
  if (found === undefined) await refuseForeign(ref, neighbours, node.rootDir);
  else if (found.namespace !== ref.namespace || found.name !== ref.name) throw uidOfAnother(ref, found);
  const {records, broken} = await neighbours.records();
  await refuseBrokenNamesake(ref, broken, neighbours);
  const known = found?.goneAt === undefined ? found : undefined;
  const namesake = records.find(({namespace, name}) => namespace === ref.namespace && name === ref.name);
  const older = namesake?.uid === ref.uid ? undefined : namesake;
  for (const record of [known, older]) if (record !== undefined) await requireOurs(record, options);
  await requireAdmission(pod, {known, older}, options);
  return {known, older};
}

/**
 * Rejects unless the pod can be changed from here: with OtherRuntimeError when it was made on another runtime, and
 * with KeptByKubeletError when a daemon that runs keeps it, which would make it again as soon as it is gone. One on
 * another runtime doesn't keep it.
 */
export async function requireOurs(
  record: PodRecord,
  {endpoint, node}: Pick<LocalPodsOptions, 'endpoint' | 'node'>,
): Promise<void> {
  if (record.endpoint !== endpoint) throw new OtherRuntimeError(record, record.endpoint, endpoint);
  if (record.manager !== 'kubelet') return;
  const kubelet = await findKubelet(node.rootDir);
  if (kubelet?.endpoint === endpoint) throw new KeptByKubeletError(record, kubelet.pid, record.source);
}

async function refuseForeign(ref: PodRef, neighbours: PodNeighbours, rootDir: string): Promise<void> {
  // Only kubelets put the UID into the labels as well.
  const sandboxes = await neighbours.sandboxes();
  if (!sandboxes.some(({metadata, labels}) => [metadata?.uid, labels[POD_UID_LABEL]].includes(ref.uid)))
    return;
  throw new SystemError(
    `a pod with the UID "${ref.uid}" runs already and was not made by kcri with the root directory "${rootDir}"`,
    {hint: 'give the manifest another metadata.uid, or end that pod with the tool that made it'},
  );
}

/** Fails when a pod of that name runs whose record can't be read: it would not be ended before this one starts. */
async function refuseBrokenNamesake(
  ref: PodRef,
  broken: readonly BrokenRecord[],
  neighbours: PodNeighbours,
): Promise<void> {
  if (broken.length === 0) return;
  const namesakes = (await neighbours.sandboxes()).filter(
    ({metadata}) => metadata?.namespace === ref.namespace && metadata.name === ref.name,
  );
  for (const {uid, error} of broken)
    if (namesakes.some(({metadata}) => metadata?.uid === uid))
      throw new SystemError(`another pod "${namespacedName(ref)}" is there already, and ${error.message}`, {
        cause: error,
        hint: `"kcri delete ${uid}" ends it, or restore the file`,
      });
}

/** Whether the node takes a new pod, or one with other resources, beside those that have not ended. */
async function requireAdmission(
  pod: Pod,
  {known, older}: Standing,
  {neighbours, node, observer}: StandingOptions,
): Promise<void> {
  const allocation = known && allocationOf(known.pod);
  if (allocation !== undefined && isAllocated(pod, allocation)) return;
  const except = (known ?? older)?.uid;
  const active = await neighbours.active();
  const others = active.filter(({uid}) => uid !== except).map((record) => record.pod);
  if (allocation !== undefined) {
    const verdict = judgeResize({pod, allocation, others, node, admission: true});
    if (verdict.kind === 'pending') throw new ResizeRejectedError(podRef(pod), verdict.pending);
    return;
  }
  const rejection = rejectionOf({pod, others, node});
  if (rejection === undefined) {
    tellUnknownResources(pod, observer.event);
    return;
  }
  observer.event({type: 'Warning', reason: rejection.reason, message: rejection.message, pod});
  throw new PodRejectedError(podRef(pod), rejection);
}
