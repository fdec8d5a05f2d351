import {UsageError} from '../../base/errors.js';
import type {Init, MessageTypes} from '../../cri/index.js';
import type {Column} from '../../format/table.js';
import type {Target} from '../../operations/resolve/target.js';
import type {Usage} from '../../operations/stats/compute-usage.js';
import type {StatsResult} from '../../operations/stats/fetch-stats.js';
import type {
  CommandContext,
  DialectContext,
  NameContext,
  OutputContext,
  ReportContext,
} from '../../cli/command/contexts.js';
import {createSorter, formatListTable, type SortOrders} from '../lists/list-flags.js';
import {STATS_FORMATS, type StatsFlagValues} from './stats-flags.js';
import type {StatsLayout} from './stats-table.js';
import {parseOutputFormat, type NodeOf, type OutputFormat} from '../../cli/output/parse-output-format.js';
import {showObjects, showPairs} from './watch.js';

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly stats: StatsStrategy;
  }
}

type StatsForm = OutputFormat<(typeof STATS_FORMATS)[number]>;

/** Stats of one kind of object, and their presentation. */
export interface StatsKind<T, Name extends keyof MessageTypes> {
  readonly measure: () => Promise<StatsResult<T>>;
  readonly usage: (before: readonly T[], after: readonly T[]) => readonly Usage<T>[];
  readonly columns: (layout: StatsLayout) => readonly Column<Usage<T>>[];
  readonly orders: SortOrders<Usage<T>>;
  /** Message that contains a list of the stats. */
  readonly message: {readonly name: Name; readonly of: (stats: readonly T[]) => Init<MessageTypes[Name]>};
  /** True if objects without usage are shown. */
  readonly idle: boolean;
  /** Returns the node of stats; undefined if there is only one. */
  readonly nodeOf?: NodeOf;
}

/** Presentation of stats as a table. */
export type StatsTable<T> = Pick<StatsKind<T, never>, 'usage' | 'columns' | 'orders' | 'idle'>;

/** Differences of `stats` and `statsp` between the dialects. */
export interface StatsStrategy {
  /** Returns the words that name objects, from arguments and --id. Throws ArgumentsError. */
  readonly requestedRefs: (words: readonly string[], id: string | undefined) => readonly string[];
  /** True to measure all objects even if some fail. */
  readonly thorough: boolean;
  /** True if tables name the pods of containers. */
  readonly showsPods: boolean;
  /** Returns the columns and rows of a table of two samples. */
  table<T>(
    services: OutputContext,
    flags: StatsFlagValues & {readonly wide: boolean},
    kind: StatsTable<T>,
  ): (before: readonly T[], after: readonly T[]) => string;
}

/** kcri's stats. */
export const KCRI_STATS: StatsStrategy = {
  requestedRefs: (words, id) => (id === undefined ? words : [id, ...words]),
  thorough: true,
  showsPods: true,
  table: ({out}, flags, {usage, columns, orders, idle}) => {
    const {wide} = flags;
    const arrange = createSorter(flags, orders);
    const layout = {
      'no-headers': flags['no-headers'],
      // A watch has to fit a terminal.
      narrow: wide || flags.watch,
      forTerminal: out.shouldEscapeControls,
    };
    return (before, after) => {
      const rows = usage(before, after).filter((row) => idle || !row.idle);
      return formatListTable(columns(wide ? 'wide' : 'table'), arrange(rows), layout).toString();
    };
  },
};

/** Returns the output format of stats. Rejects with UsageError. */
export async function parseStatsFormat(
  services: DialectContext & NameContext & ReportContext,
  flags: StatsFlagValues,
): Promise<StatsForm> {
  services.dialect.checkUsage(() => {
    if (flags.seconds < 1) throw new UsageError('--seconds must be 1 or more');
  });
  return await parseOutputFormat(flags, STATS_FORMATS, services);
}

/** Returns the IDs of found targets and reports the others; undefined if words name only missing objects. */
export function foundIds<Id>(
  {report}: ReportContext,
  targets: readonly Target<Id>[],
): readonly Id[] | undefined {
  for (const target of targets) if (target.kind === 'missing') report.fail(target.error);
  const ids = targets.flatMap((target) => (target.kind === 'found' ? [target.id] : []));
  return ids.length === 0 && targets.length > 0 ? undefined : ids;
}

/** Shows stats: two samples make a table, one makes an object. */
export async function showStats<T, Name extends keyof MessageTypes>(
  services: CommandContext,
  flags: StatsFlagValues,
  form: StatsForm,
  kind: StatsKind<T, Name>,
): Promise<void> {
  const {measure, message, nodeOf} = kind;
  // The two samples of a saved node were taken when it was saved.
  const pauseMs = (await services.settings.isSaved()) ? 0 : flags.seconds * 1000;
  const rhythm = {watch: flags.watch, pauseMs};
  if (form.kind === 'table' || form.kind === 'wide') {
    const strategy = await services.dialect.strategy('stats', KCRI_STATS);
    const table = strategy.table(services, {...flags, wide: form.kind === 'wide'}, kind);
    await showPairs(services, measure, {
      ...rhythm,
      frame: (before, after) => ({text: table(before.stats, after.stats), warnings: warningsOf(after)}),
    });
    return;
  }
  await showObjects(services, form, message.name, {
    ...rhythm,
    nodeOf,
    sample: async () => {
      const measured = await measure();
      return {message: message.of(measured.stats), warnings: warningsOf(measured)};
    },
  });
}

function warningsOf({failures}: StatsResult<unknown>): readonly string[] {
  return failures.map(({title, reason}) => `no stats of ${title}: ${reason}`);
}
