import * as Flags from '@oclif/core/flags';
import {ConfigError, SystemError, type KcriError} from '../base/errors.js';
import {CriError, type PodUid} from '../cri/index.js';
import type {DescribedNode, KubeletReport, LastKnown, PodRecord, SeenPod} from '../kubelet/index.js';
import {ageOf} from '../format/short-duration.js';
import {labelSelector} from './label-selector.js';
import {PodCommand} from './pod-command.js';
import {podTitle} from './sync-view/text.js';
import {byTime, type KeptEvent} from './views/pod-events.js';

/** The flags by which kcri's pods are chosen, kubectl's. */
export const POD_CHOICE = {
  namespace: Flags.string({
    char: 'n',
    helpValue: 'NAMESPACE',
    description: 'Only pods of a namespace. [default: all]',
  }),
  selector: Flags.string({
    char: 'l',
    helpValue: 'SELECTOR',
    description: 'Only pods whose labels fit, such as app=web,tier!=db, "env in (a,b)" or !key.',
  }),
};

/** The values of these flags. */
export interface PodChoiceValues {
  readonly namespace?: string | undefined;
  readonly selector?: string | undefined;
}

/** What kubectl calls the kind of object; kcri has only pods. */
const KIND_WORDS: ReadonlySet<string> = new Set(['pod', 'pods', 'po']);

/** What commands share that look at kcri's pods: which pods, and how they are. Nothing is changed. */
export abstract class SeenPodsCommand extends PodCommand {
  readonly #nodes = new Map<string, DescribedNode>();
  readonly #warned = new Set<string>();
  readonly #known = new Map<PodUid, LastKnown>();

  /**
   * The pods of the root directory that words and flags choose, by namespace and name. A word is a name,
   * NAMESPACE/NAME or a UID. `onMissing` is told of a word that names no pod, which keeps no other from being seen.
   */
  protected async chosenRecords(
    words: readonly string[],
    flags: PodChoiceValues,
    onMissing = (error: KcriError): void => {
      this.fail(error);
    },
  ): Promise<readonly PodRecord[]> {
    const {PodStore, recordsNamed} = await import('../kubelet/index.js');
    const fits = labelSelector(flags.selector ?? '');
    const {records, broken} = await new PodStore(this.rootDir).list();
    for (const {error} of broken) this.#warnOnce(error.message);
    const candidates = records
      .filter(({namespace}) => flags.namespace === undefined || namespace === flags.namespace)
      .filter(({pod}) => fits(pod.metadata.labels ?? {}))
      .toSorted((a, b) => (podTitle(a) < podTitle(b) ? -1 : 1));
    const names = withoutKind(words, candidates);
    if (names.length === 0) return candidates;
    const named = names.flatMap((word) => {
      const found = recordsNamed(candidates, word);
      if (found.length === 0) onMissing(noSuchPod(word, candidates));
      return found;
    });
    return [...new Set(named)];
  }

  /** What happened to the pods, the last at the end. Rejects with SystemError. */
  protected async keptEvents(records: readonly PodRecord[]): Promise<readonly KeptEvent[]> {
    const {PodHistories} = await import('../kubelet/index.js');
    const histories = new PodHistories(this.rootDir, this.context.clock);
    const events = await Promise.all(
      records.map(async (record) => (await histories.events(record.uid)).map((event) => ({record, event}))),
    );
    return events.flat().toSorted(byTime);
  }

  /**
   * What the kubelet that runs with the root directory says, of the pods of these UIDs or of all; undefined when none
   * runs. When it doesn't answer that is told, and undefined as well.
   */
  protected async kubeletReport(uids: readonly PodUid[]): Promise<KubeletReport | undefined> {
    try {
      return await this.#askKubelet(uids);
    } catch (error) {
      this.signal.throwIfAborted();
      if (!(error instanceof SystemError)) throw error;
      this.#warnOnce(`${error.message}; what it alone knows is left out`);
      return undefined;
    }
  }

  /** What that kubelet says of all. Rejects with ConfigError when none runs, and with SystemError. */
  protected async requireKubelet(): Promise<KubeletReport> {
    const report = await this.#askKubelet(undefined);
    if (report !== undefined) return report;
    throw new ConfigError(`no kcri kubelet runs with the root directory "${this.rootDir}"`, {
      hint: '"kcri kubelet" starts one; --root-dir names another directory',
    });
  }

  async #askKubelet(uids: readonly PodUid[] | undefined): Promise<KubeletReport | undefined> {
    const {askKubelet, findKubelet} = await import('../kubelet/index.js');
    const {rootDir, signal} = this;
    const kubelet = await findKubelet(rootDir);
    if (kubelet === undefined) return undefined;
    try {
      return await askKubelet(rootDir, uids, {clock: this.context.clock, signal});
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      const {hint, message} = error;
      throw new SystemError(`kcri kubelet (pid ${kubelet.pid}) does not answer: ${message}`, {
        cause: error,
        hint,
      });
    }
  }

  /** However often it is looked. */
  #warnOnce(text: string): void {
    if (!this.#warned.has(text)) this.warn(text);
    this.#warned.add(text);
  }

  /** The pods as they are now; those whose runtime can't be asked as they were last known, which is told. */
  protected async see(records: readonly PodRecord[]): Promise<readonly SeenPod[]> {
    const endpoints = [...new Set(records.map(({endpoint}) => endpoint))];
    const seen = await Promise.all(
      endpoints.map(async (endpoint) => {
        const group = records.filter((record) => record.endpoint === endpoint);
        return await this.#seeOn(endpoint, group);
      }),
    );
    const byUid = new Map(seen.flat().map((pod) => [pod.record.uid, pod]));
    for (const [uid, {known}] of byUid) this.#known.set(uid, known);
    return records.flatMap(({uid}) => byUid.get(uid) ?? []);
  }

  async #seeOn(endpoint: string, records: readonly PodRecord[]): Promise<readonly SeenPod[]> {
    const {PodHistories, recallPods, seePods} = await import('../kubelet/index.js');
    try {
      return await seePods(await this.#nodeOf(endpoint), records, this.#known, this.signal);
    } catch (error) {
      this.signal.throwIfAborted();
      if (!(error instanceof CriError)) throw error;
      const pods = await recallPods(new PodHistories(this.rootDir, this.context.clock), records);
      this.#warnOnce(this.#cannotAsk(endpoint, pods, error));
      return pods;
    }
  }

  async #nodeOf(endpoint: string): Promise<DescribedNode> {
    const node = this.#nodes.get(endpoint) ?? (await this.describeNode({}, await this.connectTo(endpoint)));
    this.#nodes.set(endpoint, node);
    return node;
  }

  #cannotAsk(endpoint: string, pods: readonly SeenPod[], error: CriError): string {
    const now = this.context.clock.now();
    const seen = pods.map(({record, known}) => `${podTitle(record)} ${ageOf(known.seenAt, now)} ago`);
    return `the runtime at "${endpoint}" can't be asked: ${error.plainMessage}; this was last seen: ${seen.join(', ')}`;
  }
}

/** `kcri describe pod web` means `kcri describe web`, unless that is a pod's name. */
function withoutKind(words: readonly string[], records: readonly PodRecord[]): readonly string[] {
  const [first = '', ...rest] = words;
  return KIND_WORDS.has(first) && !records.some(({name}) => name === first) ? rest : words;
}

function noSuchPod(word: string, candidates: readonly PodRecord[]): KcriError {
  return new ConfigError(`no pod "${word}" was made by kcri`, {
    hint:
      candidates.length === 0
        ? 'kcri has made no such pods here'
        : `kcri's pods are: ${candidates.map(podTitle).join(', ')}`,
  });
}
