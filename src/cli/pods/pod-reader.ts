import type {KcriError} from '../../base/errors.js';
import {CriError, type PodUid} from '../../cri/index.js';
import {formatAgeSince} from '../../format/age.js';
import type {NodeAndRuntime, LastKnown, ObservedPod, PodRecord} from '../../kubelet/index.js';
import type {CommandServices} from '../command/command-services.js';
import type {PodSelectionFlagValues} from '../flags/pod-selection-flags.js';
import type {RecordedPodEvent} from '../output/views/event-table.js';
import {formatPodTitle} from '../sync/view/sync-text.js';
import {parseLabelSelector} from '../targets/label-selector.js';
import {podNotFound} from '../targets/pod-not-found.js';
import {readCommandNode} from './read-command-node.js';
import {WarnOnce} from './warn-once.js';

/** Names of the kind in kubectl; kcri has only pods. */
const KIND_WORDS: ReadonlySet<string> = new Set(['pod', 'pods', 'po']);

/** Reads kcri's pods, their statuses and events. It changes nothing, and warns about each problem once. */
export class PodReader {
  readonly #services: CommandServices;
  readonly #problems: WarnOnce;
  readonly #nodes = new Map<string, NodeAndRuntime>();
  readonly #lastKnown = new Map<PodUid, LastKnown>();

  constructor(services: CommandServices) {
    this.#services = services;
    this.#problems = new WarnOnce(services.report);
  }

  /**
   * Returns the pods that words and flags select, sorted by namespace and name. A word is a name, NAMESPACE/NAME or a
   * UID. `onMissing` receives the error for a word that matches no pod; by default it is reported.
   */
  async select(
    words: readonly string[],
    flags: PodSelectionFlagValues,
    onMissing: (error: KcriError) => void = this.#services.report.fail,
  ): Promise<readonly PodRecord[]> {
    const {PodStore, findRecordsByName} = await import('../../kubelet/index.js');
    const matches = parseLabelSelector(flags.selector ?? '');
    const {records, broken} = await new PodStore(this.#services.settings.rootDir).list();
    for (const {error} of broken) this.#problems.warn(error.message);
    const candidates = records
      .filter(({namespace}) => flags.namespace === undefined || namespace === flags.namespace)
      .filter(({pod}) => matches(pod.metadata.labels ?? {}))
      .toSorted((a, b) => (formatPodTitle(a) < formatPodTitle(b) ? -1 : 1));
    const names = withoutKind(words, candidates);
    if (names.length === 0) return candidates;
    const named = names.flatMap((word) => {
      const found = findRecordsByName(candidates, word);
      if (found.length === 0) onMissing(podNotFound(word, candidates));
      return found;
    });
    return [...new Set(named)];
  }

  /** Returns the recorded events of pods, newest last. Rejects with SystemError. */
  async recordedEvents(records: readonly PodRecord[]): Promise<readonly RecordedPodEvent[]> {
    const {readRecordedEvents} = await import('../input/recorded-events.js');
    const {context, settings} = this.#services;
    return await readRecordedEvents(settings.rootDir, context.clock, records);
  }

  /** Returns the pods with their statuses; if a runtime is unavailable, the last known ones, with a warning. */
  async observe(records: readonly PodRecord[]): Promise<readonly ObservedPod[]> {
    const endpoints = [...new Set(records.map(({endpoint}) => endpoint))];
    const observed = await Promise.all(
      endpoints.map(async (endpoint) => {
        const group = records.filter((record) => record.endpoint === endpoint);
        return await this.#observeOn(endpoint, group);
      }),
    );
    const byUid = new Map(observed.flat().map((pod) => [pod.record.uid, pod]));
    for (const [uid, {known}] of byUid) this.#lastKnown.set(uid, known);
    return records.flatMap(({uid}) => byUid.get(uid) ?? []);
  }

  async #observeOn(endpoint: string, records: readonly PodRecord[]): Promise<readonly ObservedPod[]> {
    const {PodHistories, lastKnownPods, observePods} = await import('../../kubelet/index.js');
    const {context, settings, signal} = this.#services;
    try {
      return await observePods(await this.#nodeOf(endpoint), records, this.#lastKnown, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CriError)) throw error;
      const pods = await lastKnownPods(new PodHistories(settings.rootDir, context.clock), records);
      this.#problems.warn(this.#unavailableText(endpoint, pods, error));
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

/** Drops the kind from `kcri describe pod web`, unless a pod has that name. */
function withoutKind(words: readonly string[], records: readonly PodRecord[]): readonly string[] {
  const [first = '', ...rest] = words;
  return KIND_WORDS.has(first) && !records.some(({name}) => name === first) ? rest : words;
}
