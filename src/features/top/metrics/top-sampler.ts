import {canonicalEndpoint} from '../../../cri/endpoint.js';
import {CriError, type Connection, type ContainerStats, type FieldMask} from '../../../cri/index.js';
import {computeContainerUsage} from '../../../operations/stats/compute-usage.js';
import {fetchContainerStats} from '../../../operations/stats/fetch-stats.js';
import type {RuntimeContext} from '../../../cli/command/contexts.js';
import type {PodSelectionFlagValues} from '../../pods/pod-selection-flags.js';
import {KcriError} from '../../../base/errors.js';
import {KUBELET_ROOT_DIR} from '../../../base/host/kubelet-root-dir.js';
import type {ExclusiveCpus} from '../../../kubelet/index.js';
import type {TopEvent, TopSample} from './top-table.js';
import type {ListedPod, ShownPod} from '../../pods/listed-pod.js';
import {PodReader} from '../../pods/pod-reader.js';

/** Pods, events and stats at one point in time; usage is computed from two samples. */
export interface PodSample extends Omit<TopSample, 'usage'> {
  readonly shown: readonly ShownPod[];
  readonly stats: readonly ContainerStats[];
  /** Error of the runtime, whose part of the sample is missing. */
  readonly failure: CriError | undefined;
}

/** Pods to sample, and how often. */
export interface TopSelection {
  readonly words: readonly string[];
  readonly flags: PodSelectionFlagValues;
  readonly pauseMs: number;
  /** True to read no events, which a page with many pods does not show. */
  readonly omitsEvents?: boolean;
}

/** Fields of stats from which usage is computed. */
const USED_STATS: FieldMask<ContainerStats> = {
  attributes: {id: true},
  cpu: true,
  memory: {workingSetBytes: true},
};

/** Number of events below the pods. */
export const TOP_EVENTS = 8;

/** Reads the samples of `top`. */
export class TopSampler {
  readonly #services: RuntimeContext;
  readonly #reader: PodReader;
  readonly #connections = new Map<string, Connection>();
  /** Root directories of kubelets whose state could not be read, which is reported once. */
  readonly #unreadable = new Set<string>();

  constructor(services: RuntimeContext) {
    this.#services = services;
    this.#reader = new PodReader(services);
  }

  /** Reports whether the words select any pod; true without words. Missing pods are reported. */
  async matches(words: readonly string[], flags: PodSelectionFlagValues): Promise<boolean> {
    return words.length === 0 || (await this.#reader.select(words, flags)).length > 0;
  }

  async sample({words, flags, omitsEvents = false}: TopSelection): Promise<PodSample> {
    const listed = await this.#reader.select(words, flags, () => undefined);
    const [shown, {stats, failure}, events, exclusiveCpus] = await Promise.all([
      this.#reader.observe(listed),
      this.#stats(listed),
      omitsEvents ? [] : this.#events(listed),
      this.#exclusiveCpus(),
    ]);
    this.#reader.requireRuntime();
    const {runtimeFailure, observationFailure} = this.#reader;
    return {
      pods: shown.map(({pod}) => pod),
      shown,
      stats,
      events,
      exclusiveCpus,
      failure: failure ?? runtimeFailure ?? observationFailure,
      nowMs: this.#services.context.clock.now(),
    };
  }

  /** Returns the stats of all available runtimes; PodReader.observe warns about the others. */
  async #stats(listed: readonly ListedPod[]): Promise<Pick<PodSample, 'stats' | 'failure'>> {
    const {connections, signal} = this.#services;
    const stats: ContainerStats[] = [];
    let failure: CriError | undefined;
    const endpoints = new Set(listed.flatMap(({record}) => record?.endpoint ?? []));
    if (listed.some(({manager}) => manager !== 'kcri')) {
      const runtime = await connections.default();
      const endpoint = await canonicalEndpoint(runtime.endpoint);
      this.#connections.set(endpoint, runtime);
      endpoints.add(endpoint);
    }
    for (const endpoint of endpoints)
      try {
        const connection = this.#connections.get(endpoint) ?? (await connections.open(endpoint));
        this.#connections.set(endpoint, connection);
        const result = await fetchContainerStats(
          connection.runtime,
          {},
          {signal, thorough: true, each: USED_STATS},
        );
        stats.push(...result.stats);
      } catch (error) {
        if (!(error instanceof CriError)) throw error;
        failure = error;
      }
    return {stats, failure};
  }

  /** Returns the exclusive CPUs of containers of this machine, whose pods belong to kcri or to the node's kubelet. */
  async #exclusiveCpus(): Promise<ExclusiveCpus> {
    const {settings, report} = this.#services;
    if ((await settings.remoteEndpoint()) !== undefined) return new Map();
    const {readExclusiveCpus} = await import('../../../kubelet/index.js');
    const found: (readonly [string, ReadonlyMap<string, string>])[] = [];
    for (const rootDir of new Set([KUBELET_ROOT_DIR, settings.rootDir]))
      try {
        found.push(...(await readExclusiveCpus(rootDir)));
      } catch (error) {
        if (!(error instanceof KcriError)) throw error;
        if (!this.#unreadable.has(rootDir))
          report.warn(
            `exclusive CPUs are not shown: cannot read "${rootDir}/cpu_manager_state": ${error.message}`,
          );
        this.#unreadable.add(rootDir);
      }
    return new Map(found);
  }

  async #events(listed: readonly ListedPod[]): Promise<readonly TopEvent[]> {
    const events = (await this.#reader.recordedEvents(listed)).slice(-TOP_EVENTS);
    return events.map(({record: {namespace, name}, event}) => ({...event, namespace, pod: name}));
  }
}

/** Returns a sample with the usage since the sample before it. */
export function withUsage<T extends PodSample>(before: PodSample | undefined, sample: T): T & TopSample {
  const usages = computeContainerUsage(before?.stats ?? [], sample.stats);
  return {...sample, usage: new Map(usages.map((usage) => [usage.stats.attributes?.id ?? '', usage]))};
}
