import {canonicalEndpoint} from '../../cri/endpoint.js';
import {CriError, type Connection, type ContainerStats} from '../../cri/index.js';
import {formatJson, type Json} from '../../format/json.js';
import {computeContainerUsage} from '../../operations/stats/compute-usage.js';
import {fetchContainerStats} from '../../operations/stats/fetch-stats.js';
import type {CommandServices} from '../command/command-services.js';
import {formatListTable} from '../flags/list-flags.js';
import type {PodSelectionFlagValues} from '../flags/pod-selection-flags.js';
import {
  topColumns,
  topEventLines,
  topPods,
  topRows,
  type TopEvent,
  type TopSample,
} from '../output/views/top-table.js';
import {formatSorted, type OutputFormat} from '../output/parse-output-format.js';
import {repeatSample, TerminalScreen} from '../output/watch-screen.js';
import type {ListedPod} from './listed-pod.js';
import {PodReader} from './pod-reader.js';

/** Pods, events and stats at one point in time; usage is computed from two samples. */
interface PodSample extends Omit<TopSample, 'usage'> {
  readonly stats: readonly ContainerStats[];
}

/** Number of events below the pods. */
const EVENTS = 8;

/** Output format of `top`. */
type TopForm = OutputFormat<'table' | 'json' | 'yaml'>;

/** Options of showTop. */
export interface TopOptions {
  readonly words: readonly string[];
  readonly flags: PodSelectionFlagValues & {readonly 'no-headers'?: boolean};
  readonly pauseMs: number;
  /** True if one sample is printed, rather than a screen redrawn until Ctrl-C. */
  readonly once: boolean;
  readonly form: TopForm;
}

/**
 * Shows pods with their usage and recent events. Resolves immediately, with errors reported, if all named pods are
 * missing.
 */
export async function showTop(services: CommandServices, options: TopOptions): Promise<void> {
  const {context, out, report} = services;
  const {words, flags, pauseMs, once, form} = options;
  const sampler = new TopSampler(services);
  if (!(await sampler.matches(words, flags))) return;
  const signal = AbortSignal.any([services.signal, out.stdout.closed]);
  const screen = once ? undefined : openScreen(services, flags['no-headers'] === true);
  const sample = async (): Promise<PodSample> => await sampler.sample(words, flags);
  let before: PodSample | undefined;
  try {
    for await (const next of repeatSample(sample, {clock: context.clock, pauseMs, signal})) {
      const top = withUsage(before, next);
      screen?.show(top);
      // CPU usage requires two samples.
      if (screen === undefined && before !== undefined) {
        if (form.kind === 'table') out.printText(textOf(services, top, flags['no-headers'] === true));
        else out.printData(await documentOf(form, top));
        return;
      }
      before = next;
      await out.stdout.ready(signal);
    }
  } catch (error) {
    // Ctrl-C ends a watch normally.
    if (once || !signal.aborted) throw error;
  } finally {
    screen?.end();
    report.redirectWarnings(undefined);
  }
}

/** Reads the samples of `top`. */
class TopSampler {
  readonly #services: CommandServices;
  readonly #reader: PodReader;
  readonly #connections = new Map<string, Connection>();

  constructor(services: CommandServices) {
    this.#services = services;
    this.#reader = new PodReader(services);
  }

  /** Reports whether the words select any pod; true without words. Missing pods are reported. */
  async matches(words: readonly string[], flags: PodSelectionFlagValues): Promise<boolean> {
    return words.length === 0 || (await this.#reader.select(words, flags)).length > 0;
  }

  async sample(words: readonly string[], flags: PodSelectionFlagValues): Promise<PodSample> {
    const listed = await this.#reader.select(words, flags, () => undefined);
    const [shown, stats, events] = await Promise.all([
      this.#reader.observe(listed),
      this.#stats(listed),
      this.#events(listed),
    ]);
    return {pods: shown.map(({pod}) => pod), stats, events, nowMs: this.#services.context.clock.now()};
  }

  /** Returns the stats of all available runtimes; PodReader.observe warns about the others. */
  async #stats(listed: readonly ListedPod[]): Promise<readonly ContainerStats[]> {
    const {connections, signal} = this.#services;
    const stats: ContainerStats[] = [];
    const endpoints = new Set(listed.flatMap(({record}) => record?.endpoint ?? []));
    if (listed.some(({manager}) => manager !== 'kcri'))
      endpoints.add(await canonicalEndpoint((await connections.default()).endpoint));
    for (const endpoint of endpoints)
      try {
        const connection = this.#connections.get(endpoint) ?? (await connections.open(endpoint));
        this.#connections.set(endpoint, connection);
        const result = await fetchContainerStats(connection.runtime, {}, {signal, thorough: true});
        stats.push(...result.stats);
      } catch (error) {
        if (!(error instanceof CriError)) throw error;
      }
    return stats;
  }

  async #events(listed: readonly ListedPod[]): Promise<readonly TopEvent[]> {
    const events = (await this.#reader.recordedEvents(listed)).slice(-EVENTS);
    return events.map(({record: {namespace, name}, event}) => ({...event, namespace, pod: name}));
  }
}

/** Opens a screen that also shows warnings, which would garble it elsewhere. */
function openScreen(services: CommandServices, bare: boolean): {show(sample: TopSample): void; end(): void} {
  const {context, out, report} = services;
  const warnings: string[] = [];
  report.redirectWarnings((text) => {
    warnings.push(text);
  });
  const screen = new TerminalScreen(out.stdout, context.clock);
  return {
    show: (sample) => {
      screen.show({text: textOf(services, sample, bare), warnings});
    },
    end: () => {
      screen.end();
    },
  };
}

function withUsage(before: PodSample | undefined, {stats, ...sample}: PodSample): TopSample {
  const usages = computeContainerUsage(before?.stats ?? [], stats);
  return {...sample, usage: new Map(usages.map((usage) => [usage.stats.attributes?.id ?? '', usage]))};
}

function textOf({out}: CommandServices, sample: TopSample, bare: boolean): string {
  const pods = topPods(sample);
  const table = formatListTable(topColumns(pods), topRows(pods), {
    'no-headers': bare,
    narrow: true,
    forTerminal: out.shouldEscapeControls,
  }).toString();
  const events = topEventLines(sample.events, sample.nowMs);
  return events.length === 0 ? table : `${table}\n${events.join('\n')}\n`;
}

/** Formats a sample; of rows, each pod is one. */
async function documentOf(form: Exclude<TopForm, {kind: 'table'}>, sample: TopSample): Promise<string> {
  const {pods, events} = JSON.parse(JSON.stringify({pods: topPods(sample), events: sample.events})) as Record<
    'pods' | 'events',
    readonly Json[]
  >;
  if (form.kind === 'rows') return form.render(pods);
  return form.kind === 'json' ? `${formatJson({pods, events})}\n` : await formatSorted(form, {pods, events});
}
