import {containersOf} from '../../api/pod-containers.js';
import {isNativeResource} from '../../api/resource-list.js';
import type {Pod} from '../../api/types/v1-pod.js';
import {hasEnded, type PodStatus} from '../../api/types/v1-status.js';
import {nextIteration} from '../../base/async/next-iteration.js';
import type {PlannedFile} from '../contract/pod-filesystem.js';
import type {NodeManagers} from '../contract/node-manager.js';
import {NO_DEVICE_OBJECTS} from '../contract/resources/device-objects.js';
import {ALWAYS_READY} from '../contract/probe-results.js';
import {podRef} from '../contract/pod-ref.js';
import {isLive, type RuntimePodStatus} from '../contract/runtime-pod-status.js';
import {failuresOf, type SyncFailure, type SyncResult} from '../contract/sync-result.js';
import {effectiveGracePeriodSeconds} from '../managers/kuberuntime/actions/grace-period.js';
import {computeContainersToDelete, DEFAULT_CONTAINER_GC_POLICY} from '../pods/gc/container-gc.js';
import {PodHistories} from '../pods/history/pod-history.js';
import type {PodConflicts} from '../pods/registry/check-pod-conflicts.js';
import type {PodRegistry} from '../pods/registry/pod-registry.js';
import {findRejectionOfManagers} from '../pods/admission/admit-pod.js';
import {createSyncError, PodRejectedError} from '../pods/pod-errors.js';
import {computeActions} from '../pods/sync/compute-actions.js';
import type {PodSyncer} from '../pods/sync/pod-syncer.js';
import {createNodePodSnapshot, type NodePodSnapshot} from '../pods/registry/node-pod-snapshot.js';
import {requireOwnership} from '../pods/registry/pod-ownership.js';
import {PodStore, type PodRecord} from '../pods/registry/pod-store.js';
import {lacksSpec} from '../pods/registry/reconstruct-record.js';
import {summarizeChanges, type PlannedChange} from './planned-changes.js';
import type {FieldChange} from '../sources/field-changes.js';
import {computeManifestChanges} from '../sources/manifest-changes.js';
import {diffConfigs} from './config-diff.js';
import type {ConfigDiff} from '../managers/kuberuntime/diff-running-configs.js';
import {explainReplacement} from './explain-call.js';
import type {CallRecorder, PlannedCall} from './planned-call.js';
import {type PlannedResize} from '../managers/volumes/provisioning/planned-claims.js';
import {startPlannedNodeManagers} from './planned-node-managers.js';
import {
  createEffects,
  createPlannedRegistry,
  readOnlyHistories,
  type PlanOptions,
} from './planned-registry.js';

/** Plan for one pod, with its calls in order. */
export interface PodPlan {
  readonly pod: Pod;
  /** State of the pod in the API server, or the reason of its deletion; absent for a pod of a manifest. */
  readonly note?: string;
  /** True if the pod would wait for devices. */
  readonly waits?: boolean;
  /** UID of the older pod of the same name that would be terminated first. */
  readonly replaces: string | undefined;
  readonly calls: readonly PlannedCall[];
  /** New or changed volume files, without their content. */
  readonly files: readonly PlannedFile[];
  /** Claims of the pod that ask for another size than their volumes have, each at the first of the pods that share it. */
  readonly resizes: readonly PlannedResize[];
  /** Changed fields of the manifest. Like the next two fields, empty for a new pod. */
  readonly fields: readonly FieldChange[];
  readonly changes: readonly PlannedChange[];
  readonly diffs: readonly ConfigDiff[];
  /** Containers that wait for the end of a back-off, by name. */
  readonly backOffs: ReadonlyMap<string, SyncFailure>;
  /** Targets of `changes` that would be created again with the config that they have. */
  readonly equal: readonly string[];
}

/** Number of passes besides one per init container; a pod that needs more passes never settles. */
const MAX_PASSES_BEYOND_INIT = 4;

/**
 * Returns the calls that a sync of each pod would make now. Runs the real sync with services and a filesystem that
 * change nothing, and assumes that init containers succeed. Rejects with PodError if the sync would fail, or a manager of the
 * node would refuse the pod.
 */
export async function planPods(
  options: PlanOptions,
  pods: readonly Pod[],
  signal: AbortSignal,
): Promise<readonly PodPlan[]> {
  const plans: PodPlan[] = [];
  const snapshot = createSnapshot(options);
  const nodeManagers = options.nodeManagers ?? (await startManagers(options, signal));
  /** Volumes whose size is in the plan of an earlier pod that shares the claim. */
  const resized = new Set<string>();
  for (const pod of pods) {
    const findConflicts = async (planned: PodRegistry): Promise<PodConflicts> =>
      snapshot === undefined ? NO_CONFLICTS : await planned.checkConflicts(pod, {snapshot});
    const plan = await planPod({...options, nodeManagers}, {pod, findConflicts}, signal);
    const note = noteOf(pod, options, nodeManagers);
    const waits = nodeManagers.podStatus(pod)?.unschedulable !== undefined;
    const resizes = plan.resizes.filter(({volume}) => !resized.has(volume));
    for (const {volume} of resizes) resized.add(volume);
    plans.push({...plan, resizes, ...(note !== undefined && {note}), ...(waits && {waits})});
  }
  return plans;
}

/** Returns why a pod would wait, or what is not planned of it; undefined for neither. */
function noteOf(pod: Pod, {node}: PlanOptions, managers: NodeManagers): string | undefined {
  const unschedulable = managers.podStatus(pod)?.unschedulable;
  if (unschedulable !== undefined) return `the pod would stay Pending: ${unschedulable}`;
  const claimed = containersOf(pod)
    .flatMap((container) => managers.explain(pod, container))
    .filter(({manager}) => manager === 'dra');
  const devices = [...new Set(claimed.map(({text}) => text))];
  if (devices.length > 0)
    return `its ResourceClaims would get ${devices.join(', ')}; their driver chooses the CDI devices`;
  return node.devicePluginsDir === undefined ? deviceNote(pod) : undefined;
}

/** Starts the managers of the node for the pods and objects of manifests. */
async function startManagers(options: PlanOptions, signal: AbortSignal): Promise<NodeManagers> {
  const {objects} = options;
  const deviceObjects = () => objects.deviceObjects?.() ?? NO_DEVICE_OBJECTS;
  return await startPlannedNodeManagers({...options, deviceObjects}, signal);
}

/** Returns a note about extended resources in a plan without the devices of a kubelet; undefined if the pod requests none. */
function deviceNote(pod: Pod): string | undefined {
  const limits = containersOf(pod).flatMap(({resources}) => Object.keys(resources?.limits ?? {}));
  const resources = [...new Set(limits)].filter((name) => !isNativeResource(name));
  if (resources.length === 0) return undefined;
  return `devices of ${resources.join(', ')} are not planned: only a running "kcri kubelet" knows them`;
}

/** Returns a snapshot of the pods at the start of the plan, which changes nothing; undefined for an offline plan. */
function createSnapshot(options: PlanOptions): NodePodSnapshot | undefined {
  return options.offline === true ? undefined : createPlanSnapshot(options);
}

/** Creates a snapshot of the pods at the start of a plan. */
export function createPlanSnapshot({services, node, clock}: PlanOptions): NodePodSnapshot {
  const [store, histories] = [new PodStore(node.rootDir), new PodHistories(node.rootDir, clock)];
  return createNodePodSnapshot({store, histories: readOnlyHistories(histories), services}, once);
}

function once<T>(load: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= load());
}

/** Pod to plan, and the function that finds its record and the pod that it replaces. */
export interface PlannedPod {
  readonly pod: Pod;
  readonly findConflicts: (planned: PodRegistry) => Promise<PodConflicts>;
}

/** Plans one pod; see planPods. */
export async function planPod(
  options: PlanOptions,
  {pod, findConflicts}: PlannedPod,
  signal: AbortSignal,
): Promise<PodPlan> {
  const {nodeManagers} = options;
  const effects = createEffects(options, pod);
  const {recorder, files, resizes} = effects;
  const planned = createPlannedRegistry(options, pod, effects);
  const {known, older} = await findConflicts(planned);
  await requireAdmission(pod, known, {nodeManagers, signal});
  const there = known ?? older;
  const present = there && {before: there.pod, runtime: await readRuntimeStatus(planned, there, signal)};
  recorder.addContainers(present?.runtime.containers ?? []);
  const fields = there === undefined || lacksSpec(there) ? [] : computeManifestChanges(there.pod, pod);
  if (older !== undefined) {
    const text = explainReplacement(fields.map(({path}) => path));
    recorder.step = {kind: 'termination', text};
    recorder.pod = older.pod;
    const syncer = planned.createSyncer(older.pod, older.place);
    await syncer.terminate();
    await syncer.removeFromRuntime();
    recorder.pod = pod;
  }
  const syncer = createPlannedSyncer(planned, {pod, known}, options);
  const backOffs = await runPasses(syncer, recorder, {before: known?.pod, signal});
  const made = {calls: recorder.calls, files: [...files.values()], resizes: [...resizes.values()], backOffs};
  const plan = {pod, replaces: older?.uid, fields, ...made};
  if (present === undefined) return {...plan, changes: [], diffs: [], equal: []};
  const {calls} = plan;
  const compared = await diffConfigs(options.services.runtime, {pod, ...present, calls}, signal);
  return {...plan, changes: summarizeChanges(calls), ...compared};
}

function createPlannedSyncer(
  planned: PodRegistry,
  {pod, known}: {readonly pod: Pod; readonly known: PodRecord | undefined},
  {takenOverAt}: PlanOptions,
): PodSyncer {
  const syncer = planned.createSyncer(pod, known?.place);
  if (takenOverAt !== undefined && known !== undefined) syncer.takeOver(takenOverAt);
  return syncer;
}

/** Has the managers of the node admit a pod that is not known. Rejects with PodRejectedError. */
async function requireAdmission(
  pod: Pod,
  known: PodRecord | undefined,
  {nodeManagers, signal}: Pick<PlanOptions, 'nodeManagers'> & {readonly signal: AbortSignal},
): Promise<void> {
  if (known !== undefined || nodeManagers === undefined) return;
  const rejection = await findRejectionOfManagers(pod, nodeManagers, signal);
  if (rejection !== undefined) throw new PodRejectedError(podRef(pod), rejection);
}

/** Pod with a record that would be deleted, and the reason. */
export interface PlannedDeletion {
  readonly record: PodRecord;
  readonly reason: string;
}

/**
 * Returns the calls that the deletion of each pod would make. Rejects with the errors of the deletion: those of
 * requireOwnership, and PodError.
 */
export async function planDeletions(
  options: PlanOptions,
  deletions: readonly PlannedDeletion[],
  signal: AbortSignal,
): Promise<readonly PodPlan[]> {
  const plans: PodPlan[] = [];
  for (const {record, reason} of deletions) {
    await requireOwnership(record, options);
    const plan = await planTermination(options, {pod: record.pod, record, text: reason}, signal);
    plans.push({...plan, note: `would be deleted: ${reason}`});
  }
  return plans;
}

/** Plans the termination of a pod with a record, for the reason `text`. Rejects with PodError if it would fail. */
export async function planTermination(
  options: PlanOptions,
  {pod, record, text}: {readonly pod: Pod; readonly record: PodRecord; readonly text: string},
  signal: AbortSignal,
): Promise<PodPlan> {
  const effects = createEffects(options, pod);
  const {recorder} = effects;
  const planned = createPlannedRegistry(options, pod, effects);
  recorder.addContainers((await readRuntimeStatus(planned, record, signal)).containers);
  recorder.step = {kind: 'termination', text};
  const syncer = planned.createSyncer(pod, record.place);
  await syncer.terminate();
  await syncer.removeFromRuntime();
  return {...emptyPlan(pod), calls: recorder.calls};
}

/** Returns a plan without calls. */
export function emptyPlan(pod: Pod): PodPlan {
  return {
    ...{pod, replaces: undefined, calls: [], files: [], fields: [], changes: [], diffs: [], equal: []},
    ...{resizes: [], backOffs: new Map()},
  };
}

async function readRuntimeStatus(
  pods: PodRegistry,
  record: PodRecord,
  signal: AbortSignal,
): Promise<RuntimePodStatus> {
  const {pod, place} = record;
  if (!lacksSpec(record)) await pods.ensureActuatedResources(record);
  return (await pods.createSyncer(pod, place).observe(signal)).runtime;
}

const NO_CONFLICTS: PodConflicts = {known: undefined, older: undefined};

/** Runs passes until nothing is left to do but to wait. Resolves with the containers that wait for a back-off. */
async function runPasses(
  syncer: PodSyncer,
  recorder: CallRecorder,
  {before, signal}: {readonly before: Pod | undefined; readonly signal: AbortSignal},
): Promise<PodPlan['backOffs']> {
  const {pod} = syncer;
  const backOffs = new Map<string, SyncFailure>();
  const limit = (pod.spec.initContainers?.length ?? 0) + MAX_PASSES_BEYOND_INIT;
  for (let pass = 0; pass < limit; pass++) {
    await nextIteration();
    signal.throwIfAborted();
    const {runtime, status} = await syncer.observe(signal);
    recorder.step = {
      kind: 'pass',
      pod,
      before,
      runtime,
      actions: hasEnded(status.phase)
        ? undefined
        : computeActions(pod, {runtime, status, actuated: syncer.actuated}, ALWAYS_READY.results),
    };
    await planContainerGc(syncer, runtime);
    const results = await planSync(syncer, {runtime, status}, signal);
    const failures = failuresOf(results);
    const waits = failures.filter(({failure}) => failure.reason === 'CrashLoopBackOff');
    for (const {target, failure} of waits) backOffs.set(target, failure);
    const failed = failures.find((result) => !waits.includes(result));
    if (failed !== undefined) throw createSyncError(podRef(pod), failed);
    if (results.length === waits.length) break;
  }
  return backOffs;
}

/** Removes older dead instances, as the sync loop does for each ContainerDied event. */
async function planContainerGc(syncer: PodSyncer, status: RuntimePodStatus): Promise<void> {
  const containers = computeContainersToDelete({status, isUnwanted: false}, DEFAULT_CONTAINER_GC_POLICY);
  await syncer.removeGarbage({containers, sandboxes: []});
}

/** Performs one sync: that of a running pod, or the termination of a pod that has ended. */
async function planSync(
  syncer: PodSyncer,
  {runtime, status}: {readonly runtime: RuntimePodStatus; readonly status: PodStatus},
  signal: AbortSignal,
): Promise<readonly SyncResult[]> {
  if (!hasEnded(status.phase)) {
    const options = {networkError: undefined, resizeReview: undefined, syncFrequencyMs: Infinity, signal};
    return (await syncer.syncPod(runtime, options)).results;
  }
  if (isLive(runtime))
    await syncer.syncTerminatingPod(runtime, {
      gracePeriodSeconds: effectiveGracePeriodSeconds(syncer.pod),
      signal,
    });
  return [];
}
