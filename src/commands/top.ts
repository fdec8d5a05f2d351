import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {integerFlag} from '../cli/flags.js';
import {outputFlag} from '../cli/formats.js';
import {listTable} from '../cli/list-flags.js';
import {POD_CHOICE, SeenPodsCommand, type PodChoiceValues} from '../cli/seen-pods-command.js';
import {eventLines, TOP_COLUMNS, topPods, topRows, type TopEvent, type TopSample} from '../cli/views/top.js';
import {repeated, TerminalScreen} from '../cli/watch.js';
import {CriError, type Connection, type ContainerStats} from '../cri/index.js';
import type {PodRecord} from '../kubelet/index.js';
import {measureContainers} from '../operations/stats.js';
import {containerUsage} from '../operations/usage.js';

/** What was seen at one look, before it is compared with the one before. */
interface Look extends Omit<TopSample, 'usage'> {
  readonly stats: readonly ContainerStats[];
}

/** How many events are shown below the pods. */
const EVENTS = 8;

export default class Top extends SeenPodsCommand {
  static override summary = 'Watch what the pods that kcri made do and use';
  static override description =
    'Shows pods and their containers with state, restarts, what probes have come to, CPU, memory, and the last ' +
    'events, again and again on a terminal until Ctrl-C; elsewhere once. CPU is in per cent of one core, measured ' +
    'between two looks.';
  static override usage = 'top [POD...] [OPTIONS]';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> top',
    '<%= config.bin %> top web --seconds 5',
    '<%= config.bin %> top --once -o json',
  ];
  static override flags = {
    ...POD_CHOICE,
    seconds: integerFlag({
      char: 's',
      default: 2,
      helpValue: 'N',
      description: 'Seconds between two looks.',
    }),
    once: Flags.boolean({description: 'Show it once, also on a terminal.'}),
    output: outputFlag(['table', 'json']),
  };

  readonly #connections = new Map<string, Connection>();
  /** What is to be told below a drawing; undefined where nothing is drawn. */
  #warnings: string[] | undefined;

  /** What is written beside a drawing spoils it. */
  override warn(input: Error | string): Error | string {
    if (this.#warnings === undefined) return super.warn(input);
    this.#warnings.push(input instanceof Error ? input.message : input);
    return input;
  }

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(Top);
    const words = argv as string[];
    if (flags.seconds < 1) throw new UsageError('--seconds should be 1 or more');
    if (words.length > 0 && (await this.chosenRecords(words, flags)).length === 0) return;
    const look = async (): Promise<Look> => await this.#look(words, flags);
    const isJson = flags.output === 'json';
    const once = flags.once || isJson || !this.stdout.isTerminal;
    await this.#show(look, flags.seconds * 1000, once, (sample) => {
      if (isJson) this.print(jsonOf(sample));
      else this.show(this.#text(sample));
    });
  }

  async #show(
    look: () => Promise<Look>,
    pauseMs: number,
    once: boolean,
    show: (sample: TopSample) => void,
  ): Promise<void> {
    const {clock} = this.context;
    const signal = AbortSignal.any([this.signal, this.stdout.closed]);
    const screen = once ? undefined : this.#screen();
    let before: Look | undefined;
    try {
      for await (const {stats, ...rest} of repeated(look, {clock, pauseMs, signal})) {
        const usage = new Map(
          containerUsage(before?.stats ?? [], stats).map((each) => [each.stats.attributes?.id ?? '', each]),
        );
        const sample = {...rest, usage};
        screen?.show(sample);
        // The use of CPU takes two looks.
        if (screen === undefined && before !== undefined) {
          show(sample);
          return;
        }
        before = {stats, ...rest};
        await this.stdout.ready(signal);
      }
    } catch (error) {
      // Ctrl-C is how a watch ends.
      if (once || !signal.aborted) throw error;
    } finally {
      screen?.end();
    }
  }

  /** Where samples are drawn, with the warnings that come meanwhile. */
  #screen(): {show(sample: TopSample): void; end(): void} {
    const warnings: string[] = [];
    this.#warnings = warnings;
    const screen = new TerminalScreen(this.stdout, this.context.clock);
    return {
      show: (sample) => {
        screen.show({text: this.#text(sample), warnings});
      },
      end: () => {
        screen.end();
        this.#warnings = undefined;
      },
    };
  }

  async #look(words: readonly string[], choice: PodChoiceValues): Promise<Look> {
    const records = await this.chosenRecords(words, choice, () => undefined);
    const [pods, stats, events] = await Promise.all([
      this.see(records),
      this.#stats(records),
      this.#events(records),
    ]);
    return {pods, stats, events, nowMs: this.context.clock.now()};
  }

  /** What can't be measured is shown without numbers; `see` tells why a runtime can't be asked. */
  async #stats(records: readonly PodRecord[]): Promise<readonly ContainerStats[]> {
    const {signal} = this;
    const all: ContainerStats[] = [];
    for (const endpoint of new Set(records.map((record) => record.endpoint)))
      try {
        const connection = this.#connections.get(endpoint) ?? (await this.connectTo(endpoint));
        this.#connections.set(endpoint, connection);
        all.push(...(await measureContainers(connection.runtime, {}, {signal, thorough: true})).stats);
      } catch (error) {
        if (!(error instanceof CriError)) throw error;
      }
    return all;
  }

  async #events(records: readonly PodRecord[]): Promise<readonly TopEvent[]> {
    const events = (await this.keptEvents(records)).slice(-EVENTS);
    return events.map(({record: {namespace, name}, event}) => ({...event, namespace, pod: name}));
  }

  #text(sample: TopSample): string {
    const table = listTable(TOP_COLUMNS, topRows(topPods(sample)), {
      'no-headers': false,
      narrow: true,
      forTerminal: this.forTerminal,
    }).toString();
    const events = eventLines(sample.events, sample.nowMs);
    return events.length === 0 ? table : `${table}\n${events.join('\n')}\n`;
  }
}

function jsonOf(sample: TopSample): string {
  return JSON.stringify({pods: topPods(sample), events: sample.events}, undefined, 2);
}
