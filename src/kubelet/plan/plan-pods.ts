import {isRestartableInit} from '../../api/resource-list.js';
import {ActuatedFiles, plannedActuated} from '../allocation/actuated-files.js';
import type {Pod} from '../../api/v1.js';
import {hasEnded} from '../../api/v1-status.js';
import type {Json} from '../../format/json.js';
import type {PlannedFile} from '../container/pod-filesystem.js';
import {ALL_WELL} from '../container/probe-results.js';
import {podRef} from '../container/pod-ref.js';
import type {RuntimePodStatus} from '../container/pod-status.js';
import {failuresOf} from '../container/sync-result.js';
import {PodHistories} from '../events/pod-history.js';
import {LocalPods} from '../local-pods.js';
import {SILENT_OBSERVER, type LocalPodsOptions} from '../local-pods-options.js';
import {podErrorOf} from '../pod-error.js';
import {actionsFor, type PodSyncer} from '../pod-syncer.js';
import {neighboursFrom, type PodNeighbours} from '../pod-neighbours.js';
import {PodStore, type PodRecord} from '../pod/pod-store.js';
import {changesOf, type PlannedChange} from './changes.js';
import {differences, type FieldChange} from './diff.js';
import {configDiffs, type ConfigDiff} from './plan-diff.js';
import {CallRecorder, type PlannedCall} from './planned-call.js';
import {PlannedFilesystem} from './planned-filesystem.js';
import {withoutSecrets} from '../references/without-secrets.js';
import {plannedHooks} from './planned-hooks.js';
import {PlannedPullRecords} from './planned-pull-records.js';
import {plannedServices} from './planned-services.js';
import {readHistories} from './read-histories.js';

/** What would be done for one pod, in order. */
export interface PodPlan {
  readonly pod: Pod;
  /** The UID of the older pod of the same name that would be ended first. */
  readonly replaces: string | undefined;
  readonly calls: readonly PlannedCall[];
  /** Files of volumes that are new or changed, without their content. */
  readonly files: readonly PlannedFile[];
  /** How this and the next two differ from what there is: empty for a pod that is new. The manifest's fields. */
  readonly fields: readonly FieldChange[];
  readonly changes: readonly PlannedChange[];
  readonly diffs: readonly ConfigDiff[];
}

/** How pods are planned. */
export type PlanOptions = Omit<LocalPodsOptions, 'observer' | 'files' | 'histories' | 'probes'> & {
  /** On a node where nothing is yet: no record is looked at. */
  readonly offline?: boolean;
};

/** More passes than there are containers to wait for means that the pod never settles. */
const MAX_PASSES_BEYOND_INIT = 4;

/**
 * The calls that a sync of each pod would make now, found by running the sync itself on services and a file
 * system that change nothing. Init containers are taken to succeed. Rejects with PodError for what would fail.
 */
export async function planPods(
  options: PlanOptions,
  pods: readonly Pod[],
  signal: AbortSignal,
): Promise<readonly PodPlan[]> {
  const plans: PodPlan[] = [];
  const neighbours = neighboursOf(options);
  for (const pod of pods) plans.push(await planPod({...options, neighbours}, pod, signal));
  return plans;
}

/** As they were when the plan began: nothing is changed in between. None where nothing is looked at. */
function neighboursOf({services, node, clock, offline}: PlanOptions): PodNeighbours | undefined {
  if (offline === true) return undefined;
  const [store, histories] = [new PodStore(node.rootDir), new PodHistories(node.rootDir, clock)];
  return neighboursFrom({store, histories: readHistories(histories), services}, once);
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => (answer ??= ask());
}

async function planPod(
  {neighbours, ...options}: PlanOptions & {readonly neighbours: PodNeighbours | undefined},
  pod: Pod,
  signal: AbortSignal,
): Promise<PodPlan> {
  const recorder = new CallRecorder();
  const files = new Map<string, PlannedFile>();
  const planned = plannedPods(options, pod, {recorder, onFile: (file) => void files.set(file.path, file)});
  const {known, older} = neighbours === undefined ? NOTHING_THERE : await planned.standing(pod, neighbours);
  const there = known ?? older;
  const present = there && {before: there.pod, runtime: await whatRuns(planned, there, signal)};
  recorder.know(present?.runtime.containers ?? []);
  const fields = present === undefined ? [] : manifestChanges(present.before, pod);
  if (older !== undefined) {
    recorder.step = {kind: 'ending', changed: fields.map(({path}) => path)};
    const syncer = planned.syncer(older.pod, older.place);
    await syncer.terminate();
    await syncer.removeFromRuntime();
  }
  await runPasses(planned.syncer(pod, known?.place), recorder, {before: known?.pod, signal});
  const plan = {pod, replaces: older?.uid, calls: recorder.calls, files: [...files.values()], fields};
  if (present === undefined) return {...plan, changes: [], diffs: []};
  const compared = {pod, ...present, calls: plan.calls};
  const diffs = await configDiffs(options.services.runtime, compared, signal);
  return {...plan, changes: changesOf(plan.calls), diffs};
}

async function whatRuns(pods: LocalPods, record: PodRecord, signal: AbortSignal): Promise<RuntimePodStatus> {
  const {pod, place} = record;
  await pods.keepActuated(record);
  return (await pods.syncer(pod, place).observe(signal)).runtime;
}

/** Pods on which everything is done as it would be, and nothing happens. */
function plannedPods(
  options: PlanOptions,
  pod: Pod,
  {recorder, onFile}: {readonly recorder: CallRecorder; readonly onFile: (file: PlannedFile) => void},
): LocalPods {
  const exitsAtOnce = (name: string): boolean =>
    pod.spec.initContainers?.some((each) => each.name === name && !isRestartableInit(each)) ?? false;
  const {clock, node, offline = false} = options;
  return new LocalPods({
    ...options,
    ...(!offline && {histories: readHistories(new PodHistories(node.rootDir, clock))}),
    envObjects: withoutSecrets(options.objects),
    services: plannedServices(options.services, {exitsAtOnce}),
    // A plan runs no programs.
    imageCredentials: options.imageCredentials?.withoutProviders(),
    pullRecords: new PlannedPullRecords(node.rootDir),
    actuated: plannedActuated(new ActuatedFiles(node.rootDir), offline),
    hooks: plannedHooks,
    files: (facts) => new PlannedFilesystem(facts, {clock, onFile, offline}),
    observer: {
      ...SILENT_OBSERVER,
      call: (_ref, ...call) => {
        recorder.take(...call);
      },
    },
  });
}

const NOTHING_THERE = {known: undefined, older: undefined};

/** What of the manifest is not as it was: the labels, annotations and the spec, without what kcri adds itself. */
function manifestChanges(before: Pod, after: Pod): readonly FieldChange[] {
  const manifestOf = ({metadata, spec}: Pod): Json => {
    const annotations = Object.entries(metadata.annotations ?? {}).filter(
      ([key]) => !key.startsWith('kubernetes.io/config.'),
    );
    const own = {labels: metadata.labels ?? {}, annotations: Object.fromEntries(annotations)};
    return JSON.parse(JSON.stringify({metadata: own, spec})) as Json;
  };
  return differences(manifestOf(before), manifestOf(after));
}

async function runPasses(
  syncer: PodSyncer,
  recorder: CallRecorder,
  {before, signal}: {readonly before: Pod | undefined; readonly signal: AbortSignal},
): Promise<void> {
  const {pod} = syncer;
  const limit = (pod.spec.initContainers?.length ?? 0) + MAX_PASSES_BEYOND_INIT;
  for (let pass = 0; pass < limit; pass++) {
    const {runtime, status} = await syncer.observe(signal);
    recorder.step = {
      kind: 'pass',
      pod,
      before,
      runtime,
      actions: hasEnded(status.phase)
        ? undefined
        : actionsFor(pod, {runtime, status, actuated: syncer.actuated}, ALL_WELL.results),
    };
    const {results} = await syncer.sync(signal);
    const [failure] = failuresOf(results);
    if (failure !== undefined) throw podErrorOf(podRef(pod), failure);
    if (results.length === 0) return;
  }
}
