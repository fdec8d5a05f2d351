import type {Pod} from '../../api/types/v1-pod.js';
import {hasEnded} from '../../api/types/v1-status.js';
import {KcriError} from '../../base/errors.js';
import type {PodUid} from '../../cri/index.js';
import type {NodePressure} from '../contract/cluster/node-pressure.js';
import type {NodeObjectFacts} from '../contract/cluster/cluster-link.js';
import type {NodeManagers} from '../contract/node-manager.js';
import {namespacedName, podRef, type PodRef} from '../contract/pod-ref.js';
import type {DesiredPod} from '../contract/pod-update.js';
import {diffPods} from '../sources/pod-mux.js';
import {configSourceOf, isMirrorPod} from '../sources/static-pod.js';
import {findRejectionOfNode} from '../pods/admission/admit-pod.js';
import {PodRejectedError} from '../pods/pod-errors.js';
import type {PodRecord} from '../pods/registry/pod-store.js';
import {startPlannedNodeManagers} from './planned-node-managers.js';
import {createPlanSnapshot, emptyPlan, planPod, planTermination, type PodPlan} from './plan-pods.js';
import type {PlanOptions} from './planned-registry.js';

/** Options of planClusterPods. */
export interface ClusterPlanOptions extends PlanOptions {
  /** Facts of the Node object, which precede those of the machine; undefined without one. */
  readonly nodeObject: NodeObjectFacts | undefined;
  /** Pressure conditions of the node. */
  readonly pressures: readonly NodePressure[];
  /** Selects the pods to plan. */
  readonly isSelected: (pod: PodRef) => boolean;
  /** Receives the error of a pod that cannot be synced or is not admitted; the plan continues with the next one. */
  readonly onFailure: (pod: Pod, error: KcriError) => void;
}

/**
 * Returns what a kubelet with the records of the root directory would do now about the pods that the API server has for
 * its node, and about those that it no longer has, sorted by namespace and name. Mirror pods are omitted: their static
 * pods are planned from their manifests. Changes nothing. Rejects with SystemError and CriError.
 */
export async function planClusterPods(
  options: ClusterPlanOptions,
  pods: readonly Pod[],
  signal: AbortSignal,
): Promise<readonly PodPlan[]> {
  const snapshot = createPlanSnapshot(options);
  const {records} = await snapshot.records();
  const own = new Map(records.filter(isOfApiServer).map((record) => [record.uid, record]));
  const desired = pods
    .filter((pod) => !isMirrorPod(pod))
    .map((pod) => ({uid: podRef(pod).uid, pod, origin: ''}));
  const known = new Map([...own].map(([uid, {pod}]): [PodUid, DesiredPod] => [uid, {uid, pod, origin: ''}]));
  const seen = new Date(options.clock.now()).toISOString();
  const changes = diffPods(known, desired, {source: 'api', seen});
  const node = {...options.node, ...options.nodeObject};
  const nodeManagers = await startPlannedNodeManagers({...options, node}, signal);
  const planner = new ClusterPlanner(
    {...options, node, nodeManagers},
    own,
    (await snapshot.active()).map(({pod}) => pod),
  );
  const plans: PodPlan[] = [];
  for (const {pod, uid} of sorted([...changes.known.values(), ...changes.pods.REMOVE])) {
    if (!options.isSelected(podRef(pod))) continue;
    const plan = await planner.plan(pod, changes.known.has(uid), signal);
    if (plan !== undefined) plans.push(plan);
  }
  return plans;
}

function isOfApiServer({pod, manager}: PodRecord): boolean {
  return manager === 'kubelet' && configSourceOf(pod) === 'api';
}

function sorted(pods: readonly DesiredPod[]): readonly DesiredPod[] {
  const nameOf = ({pod}: DesiredPod): string => namespacedName(podRef(pod));
  return pods.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

type ClusterPlannerOptions = ClusterPlanOptions & {readonly nodeManagers: NodeManagers};

class ClusterPlanner {
  readonly #options: ClusterPlannerOptions;
  readonly #records: ReadonlyMap<PodUid, PodRecord>;
  /** Pods that take resources of the node: the active ones, and those that the plan has admitted. */
  readonly #others: Pod[];

  constructor(
    options: ClusterPlannerOptions,
    records: ReadonlyMap<PodUid, PodRecord>,
    active: readonly Pod[],
  ) {
    this.#options = options;
    this.#records = records;
    this.#others = [...active];
  }

  /** Plans a pod; `isWanted` is false if the API server no longer has it. Resolves with undefined if it fails. */
  async plan(pod: Pod, isWanted: boolean, signal: AbortSignal): Promise<PodPlan | undefined> {
    try {
      return await this.#plan(pod, isWanted, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof KcriError)) throw error;
      this.#options.onFailure(pod, error);
      return undefined;
    }
  }

  async #plan(pod: Pod, isWanted: boolean, signal: AbortSignal): Promise<PodPlan> {
    const record = this.#records.get(podRef(pod).uid);
    const note = noteOf(pod, {isWanted, isKnown: record !== undefined});
    if (!isWanted || pod.metadata.deletionTimestamp !== undefined)
      return record === undefined
        ? {...emptyPlan(pod), note}
        : {...(await planTermination(this.#options, {pod, record, text: note}, signal)), note};
    if (record === undefined) {
      if (hasEnded(pod.status?.phase)) return {...emptyPlan(pod), note};
      await this.#admit(pod, signal);
    }
    const findConflicts = async () => await Promise.resolve({known: record, older: undefined});
    return {...(await planPod(this.#options, {pod, findConflicts}, signal)), note};
  }

  /** Admits a new pod to the node, as a kubelet does when it is added. Rejects with PodRejectedError. */
  async #admit(pod: Pod, signal: AbortSignal): Promise<void> {
    const {node, pressures, nodeManagers} = this.#options;
    const request = {pod, others: this.#others, node, pressures};
    const rejection = await findRejectionOfNode(request, nodeManagers, signal);
    if (rejection !== undefined) throw new PodRejectedError(podRef(pod), rejection);
    this.#others.push(pod);
  }
}

/** Describes the state of a pod in the API server and on the node. */
function noteOf(
  {metadata: {deletionTimestamp}, spec, status}: Pod,
  {isWanted, isKnown}: {readonly isWanted: boolean; readonly isKnown: boolean},
): string {
  if (!isWanted) return 'the API server no longer has the pod';
  if (deletionTimestamp !== undefined)
    return isKnown ? 'the pod is being deleted' : 'the pod is being deleted, and this node does not run it';
  if (hasEnded(status?.phase)) return `the pod has ended with the phase ${status.phase}`;
  const state = isKnown ? 'the node manages the pod' : 'the pod is new to the node';
  return (spec.resourceClaims ?? []).length === 0
    ? state
    : `${state}; the CDI devices of its ResourceClaims are not planned: their drivers choose them`;
}
