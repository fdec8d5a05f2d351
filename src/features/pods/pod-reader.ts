import type {Pod} from '../../api/types/v1-pod.js';
import type {KcriError} from '../../base/errors.js';
import {FileCache, type ParsedFiles} from '../../base/fs/file-cache.js';
import {CriError, type PodUid} from '../../cri/index.js';
import {formatAgeSince} from '../../format/age.js';
import type {NodeAndRuntime, ObservedPod, PodRecord, RejectedPod} from '../../kubelet/index.js';
import type {RuntimeContext, ConnectionContext, SettingsContext} from '../../cli/command/contexts.js';
import {parsePodManager, type PodManagerName, type PodSelectionFlagValues} from './pod-selection-flags.js';
import {compareByTime, type RecordedPodEvent} from '../events/event-table.js';
import {formatPodTitle} from './pod-title.js';
import {filterPods} from './filter-pods.js';
import {findWorkloadPods} from './workload-pods.js';
import {
  findBySandboxId,
  listKubeletPod,
  listRecord,
  listRejectedPod,
  listRuntimePod,
  showRejectedPod,
  withoutKind,
  type ListedPod,
  type ShownPod,
} from './listed-pod.js';
import {missingPodError} from './missing-pod-error.js';
import {announcesRestart, withoutRestart} from './not-restarted.js';
import {readCommandNode} from '../manifests/read-command-node.js';
import {runtimeStates, RuntimePods} from './runtime-pods.js';
import type {CommandReporter} from '../../cli/output/command-reporter.js';
import {canonicalEndpoint} from '../../cri/endpoint.js';

/** Reads the pods of kcri and of the runtime, their statuses and events. It changes nothing, and warns about each problem once. */
export class PodReader {
  readonly #services: RuntimeContext;
  readonly #problems: WarnOnce;
  readonly #nodes = new Map<string, NodeAndRuntime>();
  /** Last observations of kcri's pods. */
  #observed: ReadonlyMap<PodUid, ObservedPod> = new Map();
  readonly #runtimePods: RuntimePods;
  /** Files of pods, of which each list begins a round. */
  readonly #files: FileCache;
  /** Error of a runtime of kcri's pods during the last observation. */
  #unavailable: CriError | undefined;

  constructor(services: RuntimeContext) {
    this.#services = services;
    this.#problems = new WarnOnce(services.report);
    this.#runtimePods = new RuntimePods(services);
    const {clock} = services.context;
    this.#files = new FileCache(() => clock.now());
  }

  /**
   * Returns the pods that words and flags select, sorted by namespace and name. A word is a name, NAMESPACE/NAME, a UID,
   * the ID of a sandbox, or a workload such as deployment/web, for its pods. `onMissing` receives the error for a word that matches no pod, and the word; by default it is reported.
   * Rejects with UsageError.
   */
  async select(
    words: readonly string[],
    flags: PodSelectionFlagValues,
    onMissing: (error: KcriError, word: string) => void = this.#services.report.fail,
  ): Promise<readonly ListedPod[]> {
    const {findRecordsByName} = await import('../../kubelet/index.js');
    // Wrong flags are reported before anything is read.
    filterPods([], flags);
    const all = await this.#list(parsePodManager(flags.manager), words.length > 0);
    const candidates = filterPods(all, flags);
    const names = withoutKind(words, candidates);
    if (names.length === 0) return candidates;
    this.requireRuntime();
    const named = names.flatMap((word) => {
      const ofWorkload = findWorkloadPods(candidates, word);
      if (ofWorkload.length > 0) return ofWorkload;
      const found = findRecordsByName(candidates, word);
      const chosen = found.length > 0 ? found : findBySandboxId(candidates, word);
      if (chosen.length > 0) return chosen;
      this.#warnOfRuntime();
      onMissing(missingPodError(word, candidates, all), word);
      return [];
    });
    return [...new Set(named)];
  }

  /** Returns kcri's pods and, unless only those are asked for, the other pods of the runtime; of a saved node, its pods. */
  async #list(manager: PodManagerName | undefined, hasWords: boolean): Promise<readonly ListedPod[]> {
    const saved = await readSavedPods(this.#services);
    if (saved !== undefined) return saved;
    this.#files.startRound();
    const {rejected, records, removed, broken} = await readNodeRecords(this.#services, this.#files);
    for (const {error} of broken) this.#problems.warn(error.message);
    // The sandbox IDs of kcri's pods are needed to find pods by ID.
    const found = manager === 'kcri' && !hasWords ? [] : await this.#runtimePods.list();
    const byUid = new Map(found.map((pod) => [pod.uid, pod]));
    const known = new Set<string>([...records, ...removed, ...broken].map(({uid}) => uid));
    const titles = new Set(records.map(formatPodTitle));
    return [
      ...rejected.filter((pod) => !titles.has(formatPodTitle(pod))).map(listRejectedPod),
      ...records.map((record) => listRecord(record, byUid.get(record.uid))),
      ...found.filter(({uid}) => !known.has(uid)).map(listRuntimePod),
      ...this.#runtimePods.withoutSandbox.map(listKubeletPod).filter(({uid}) => !known.has(uid)),
    ];
  }

  /** Returns the recorded events of kcri's pods, newest last. Rejects with SystemError. */
  async recordedEvents(listed: readonly ListedPod[]): Promise<readonly RecordedPodEvent[]> {
    const {readRecordedEvents} = await import('../events/recorded-events.js');
    const {context, settings} = this.#services;
    const recorded = await readRecordedEvents(
      settings.rootDir,
      context.clock,
      recordsOf(listed),
      this.#files,
    );
    return [...recorded, ...listed.flatMap(storedEvents)].toSorted(compareByTime);
  }

  /** Returns the pods with their statuses; if a runtime is unavailable, the last known ones, with a warning. */
  async observe(listed: readonly ListedPod[]): Promise<readonly ShownPod[]> {
    this.#unavailable = undefined;
    const records = recordsOf(listed);
    const endpoints = [...new Set(records.map(({endpoint}) => endpoint))];
    const states = await this.#statesOf(listed);
    const [others, ...observed] = await Promise.all([
      this.#runtimePods.observe(listed.filter(({manager}) => manager !== 'kcri')),
      ...endpoints.map(async (endpoint) => {
        const group = records.filter((record) => record.endpoint === endpoint);
        return await this.#observeOn(endpoint, group, states);
      }),
    ]);
    const byUid = new Map(observed.flat().map((pod) => [pod.record.uid, pod]));
    this.#observed = byUid;
    this.#warnOfRuntime();
    const otherPods = new Map(others.map((shown) => [shown.listed, shown]));
    const left = await this.#notRun([...byUid.values()]);
    return listed.flatMap((each) => {
      const {saved} = each;
      if (saved !== undefined) return {listed: each, pod: saved.pod, isUnattended: saved.isUnattended};
      if (each.ofKubelet !== undefined) return {listed: each, pod: each.ofKubelet};
      if (each.rejected !== undefined) return showRejectedPod(each, each.rejected);
      const own = byUid.get(each.uid);
      if (each.record === undefined) return otherPods.get(each) ?? [];
      if (own === undefined) return [];
      const changed = left.get(own);
      return [{listed: each, pod: changed ?? own.pod, isUnattended: changed !== undefined}];
    });
  }

  /** Reads statuses from the runtime in the next observation even if the states of its objects are the same. */
  forgetObserved(): void {
    this.#observed = new Map();
  }

  /** Returns the pods that announce a restart although no process runs them, without the announcement. */
  async #notRun(observed: readonly ObservedPod[]): Promise<ReadonlyMap<ObservedPod, Pod>> {
    const pods = observed.filter(({pod}) => announcesRestart(pod));
    if (pods.length === 0) return new Map();
    const {isPodRun} = await import('../../kubelet/index.js');
    const {rootDir} = this.#services.settings;
    const left = new Map<ObservedPod, Pod>();
    for (const each of pods)
      if (!(await isPodRun(rootDir, each.record))) left.set(each, withoutRestart(each.pod));
    return left;
  }

  /** Error of the last call to the default runtime; undefined if it succeeded. */
  get runtimeFailure(): CriError | undefined {
    return this.#runtimePods.failure;
  }

  /** True if the kubelet of this machine has answered, so that all its pods are known. */
  get kubeletHasAnswered(): boolean {
    return this.#runtimePods.kubeletHasAnswered;
  }

  /** Error of a runtime for which the last observation returned last known statuses; undefined without one. */
  get observationFailure(): CriError | undefined {
    return this.#unavailable;
  }

  /** Throws the error of the last call to the runtime if nothing else knows the pods of the node. */
  requireRuntime(): void {
    const {failure, isRequired} = this.#runtimePods;
    if (isRequired && failure !== undefined) throw failure;
  }

  /** Warns that the runtime could not be read, unless a warning about one of kcri's pods says so. */
  #warnOfRuntime(): void {
    const {failure, isRequired} = this.#runtimePods;
    if (failure === undefined || isRequired || this.#unavailable !== undefined) return;
    this.#problems.warn(`pods that kcri did not create are not shown: ${failure.plainMessage}`);
  }

  /** Returns texts that change with the objects of kcri's pods in the default runtime and with their states. */
  async #statesOf(listed: readonly ListedPod[]): Promise<ReadonlyMap<PodUid, string>> {
    if (!listed.some(({record, inRuntime}) => record !== undefined && inRuntime !== undefined))
      return new Map();
    const own = await canonicalEndpoint(await this.#services.connections.endpoint());
    return new Map(
      listed.flatMap(({uid, record, inRuntime}) =>
        record?.endpoint === own && inRuntime !== undefined
          ? [[uid, runtimeStates([inRuntime])] as const]
          : [],
      ),
    );
  }

  async #observeOn(
    endpoint: string,
    records: readonly PodRecord[],
    states: ReadonlyMap<PodUid, string>,
  ): Promise<readonly ObservedPod[]> {
    const {PodHistories, lastKnownPods, observePods} = await import('../../kubelet/index.js');
    const {context, settings, signal} = this.#services;
    const {failure} = this.#runtimePods;
    try {
      // A runtime that hangs need not be waited for twice.
      if (failure?.endpoint === endpoint) throw failure;
      const statesOf = (uid: PodUid): string | undefined => states.get(uid);
      const options = {before: this.#observed, statesOf, files: this.#files, signal};
      return await observePods(await this.#nodeOf(endpoint), records, options);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CriError)) throw error;
      const pods = await lastKnownPods(
        new PodHistories(settings.rootDir, context.clock, this.#files),
        records,
      );
      this.#unavailable = error;
      // The ages of the states change.
      this.#problems.warn(this.#unavailableText(endpoint, pods, error), `${endpoint} ${error.plainMessage}`);
      return pods;
    }
  }

  async #nodeOf(endpoint: string): Promise<NodeAndRuntime> {
    const services = this.#services;
    const node =
      this.#nodes.get(endpoint) ??
      (await readCommandNode(services, {}, await services.connections.open(endpoint)));
    this.#nodes.set(endpoint, node);
    return node;
  }

  #unavailableText(endpoint: string, pods: readonly ObservedPod[], error: CriError): string {
    const now = this.#services.context.clock.now();
    const ages = pods.map(
      ({record, known}) => `${formatPodTitle(record)} ${formatAgeSince(known.seenAt, now)} ago`,
    );
    return `runtime at "${endpoint}" is unavailable: ${error.plainMessage}; showing the last known state: ${ages.join(', ')}`;
  }
}

function recordsOf(listed: readonly ListedPod[]): readonly PodRecord[] {
  return listed.flatMap(({record}) => record ?? []);
}

/** Returns the events of a rejected pod, or of one of a saved node. */
function storedEvents({uid, namespace, name, rejected, saved}: ListedPod): readonly RecordedPodEvent[] {
  if (rejected !== undefined) return rejected.rejection.events.map((event) => ({record: rejected, event}));
  if (saved === undefined) return [];
  return saved.events.map((event) => ({record: {uid, namespace, name, pod: saved.pod}, event}));
}

/** Returns the pods of the saved node of a command; undefined for a running node. Rejects with ConfigError. */
async function readSavedPods({
  connections,
  settings,
}: ConnectionContext & SettingsContext): Promise<readonly ListedPod[] | undefined> {
  if (!(await settings.isSaved())) return undefined;
  await connections.default();
  const {listSavedPods} = await import('./saved-pods.js');
  return connections.saved === undefined ? undefined : listSavedPods(connections.saved);
}

/** Prints each warning once, however often pods are read. */
class WarnOnce {
  readonly #report: CommandReporter;
  readonly #warned = new Set<string>();

  constructor(report: CommandReporter) {
    this.#report = report;
  }

  /** Warns unless it has warned of the problem before, which its text identifies by default. */
  warn(text: string, problem = text): void {
    if (!this.#warned.has(problem)) this.#report.warn(text);
    this.#warned.add(problem);
  }
}

/** Records of kcri about the pods of a node. */
interface NodeRecords {
  readonly rejected: readonly RejectedPod[];
  readonly records: readonly PodRecord[];
  /** Records of deleted pods. */
  readonly removed: readonly {readonly uid: string}[];
  /** Records that cannot be read. */
  readonly broken: readonly {readonly uid: string; readonly error: Error}[];
}

const NONE: NodeRecords = {rejected: [], records: [], removed: [], broken: []};

/**
 * Reads the records of this machine's root directory that belong to the node of a command: none if it is remote; of one
 * of several nodes, those of its runtime. Rejects with SystemError.
 */
async function readNodeRecords(
  services: ConnectionContext & SettingsContext,
  files: ParsedFiles,
): Promise<NodeRecords> {
  const {isPart, settings} = services;
  if ((await settings.remoteEndpoint()) !== undefined) return NONE;
  const {PodStore, RejectedPodStore} = await import('../../kubelet/index.js');
  const rejected = await new RejectedPodStore(settings.rootDir, files).list();
  const {records, removed, broken} = await new PodStore(settings.rootDir, 'records', files).list();
  if (!isPart) return {rejected, records, removed, broken};
  const own = await canonicalEndpoint(await services.connections.endpoint());
  const isOwn = ({endpoint}: PodRecord): boolean => endpoint === own;
  return {rejected: rejected.filter(isOwn), records: records.filter(isOwn), removed, broken};
}
