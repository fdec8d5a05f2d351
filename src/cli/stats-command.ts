import * as Flags from '@oclif/core/flags';
import {SystemError, UsageError} from '../base/errors.js';
import type {Init, MessageTypes} from '../cri/index.js';
import {renderTable, type Column} from '../format/table.js';
import type {Measured} from '../operations/stats.js';
import type {Usage} from '../operations/usage.js';
import type {Target} from '../operations/resolve.js';
import {integerFlag, listFlag} from './flags.js';
import {formOf, outputFlag, type Form} from './formats.js';
import {ArgumentsError} from './usage-errors.js';
import type {SortKeys} from './views/stats.js';
import {WatchCommand} from './watch-command.js';

const FORMATS = ['table', 'wide', 'json', 'yaml'] as const;

type StatsForm = Form<(typeof FORMATS)[number]>;

/** What `stats` and `statsp` share, but for whose letter and description differ. */
export const STATS_FLAGS = {
  label: listFlag({description: 'Only those with a label, as KEY=VALUE.'}),
  output: outputFlag(FORMATS),
  seconds: integerFlag({
    char: 's',
    default: 1,
    helpValue: 'N',
    description: 'Seconds over which the use of CPU is measured. [default: 1]',
  }),
  watch: Flags.boolean({char: 'w', description: 'Measure again and again, until Ctrl-C.'}),
  'no-headers': Flags.boolean({description: 'Leave the names of the columns out.'}),
};

/** The values of these flags. */
export interface StatsFlagValues {
  readonly output?: string | undefined;
  readonly seconds: number;
  readonly watch: boolean;
  readonly 'no-headers': boolean;
  readonly sort?: string | undefined;
}

/** The stats of one kind of object, and how they are shown. */
export interface StatsKind<T, Name extends keyof MessageTypes> {
  readonly measure: () => Promise<Measured<T>>;
  readonly usage: (before: readonly T[], after: readonly T[]) => readonly Usage<T>[];
  readonly columns: (wide: boolean) => readonly Column<Usage<T>>[];
  readonly sorts: SortKeys<T>;
  /** The message that a list of them makes. */
  readonly message: {readonly name: Name; readonly of: (stats: readonly T[]) => Init<MessageTypes[Name]>};
  /** Show what has used nothing as well. */
  readonly idle: boolean;
}

const CLEAR_SCREEN = '\u001B[2J\u001B[H';
/** How often crictl asks when it shows what it gets as it is. */
const CRICTL_TICK_MS = 500;

/** What `stats` and `statsp` are built on: two samples make a table, one is shown as an object. */
export abstract class StatsCommand extends WatchCommand {
  /** The one id that crictl takes, as flag or argument; kcri takes several words. */
  protected refsOf(words: readonly string[], id: string | undefined): readonly string[] {
    if (this.compat && words.length > 1) throw new ArgumentsError(`unexpected argument "${words[1] ?? ''}"`);
    const [first] = words;
    if (this.compat) return [id ?? first ?? ''].filter((ref) => ref !== '');
    return id === undefined ? words : [id, ...words];
  }

  /** The ids of what was found; what was not is shown as an error. Undefined when words named nothing that is there. */
  protected idsOf<Id>(targets: readonly Target<Id>[]): readonly Id[] | undefined {
    for (const target of targets) if (target.kind === 'missing') this.fail(target.error);
    const ids = targets.flatMap((target) => (target.kind === 'found' ? [target.id] : []));
    return ids.length === 0 && targets.length > 0 ? undefined : ids;
  }

  /** The form to show stats in; crictl shows a table for what it doesn't know. Throws UsageError. */
  protected async statsForm(flags: StatsFlagValues): Promise<StatsForm> {
    const kind = (['json', 'yaml'] as const).find((known) => known === flags.output);
    if (this.compat) return {kind: kind ?? 'table'};
    if (flags.seconds < 1) throw new UsageError('--seconds should be 1 or more');
    return await formOf(flags, FORMATS);
  }

  protected async showStats<T, Name extends keyof MessageTypes>(
    flags: StatsFlagValues,
    form: StatsForm,
    kind: StatsKind<T, Name>,
  ): Promise<void> {
    const {watch} = flags;
    if (form.kind === 'table' || form.kind === 'wide') {
      const table = this.#tableOf(flags, form.kind === 'wide', kind);
      await this.showPairs(kind.measure, {
        watch,
        pauseMs: flags.seconds * 1000,
        frame: (before, after) => ({text: table(before.stats, after.stats), warnings: warningsOf(after)}),
      });
    } else {
      const {measure, message} = kind;
      await this.showObjects(form, message.name, {
        watch,
        pauseMs: this.compat ? CRICTL_TICK_MS : flags.seconds * 1000,
        sample: async () => {
          const measured = await measure();
          return {message: message.of(measured.stats), warnings: warningsOf(measured)};
        },
      });
    }
  }

  /** A sorted table as kcri has it, or crictl's, for which the screen is cleared wherever it goes. */
  #tableOf<T>(
    flags: StatsFlagValues,
    wide: boolean,
    {usage, columns, sorts, idle}: Omit<StatsKind<T, never>, 'measure' | 'message'>,
  ): (before: readonly T[], after: readonly T[]) => string {
    const shown = (row: Usage<T>): boolean => idle || !row.idle;
    if (this.compat)
      return (before, after) =>
        CLEAR_SCREEN + renderTable(columns(false), usage(before, after).filter(shown).filter(isMeasured));
    const order = sortOf(sorts, flags.sort);
    return (before, after) => {
      const table = renderTable(columns(wide), usage(before, after).filter(shown).toSorted(order));
      return flags['no-headers'] ? table.slice(table.indexOf('\n') + 1) : table;
    };
  }
}

/** crictl leaves out what is new, and gives up for what the runtime did not measure twice. */
function isMeasured({cpuPercent}: Usage<unknown>): boolean {
  if (cpuPercent === 'stale') throw new SystemError('cpu stat is not updated during sample');
  return cpuPercent !== 'new';
}

function sortOf<T>(sorts: SortKeys<T>, key: string | undefined): (a: Usage<T>, b: Usage<T>) => number {
  if (key === undefined) return () => 0;
  const order = Object.hasOwn(sorts, key) ? sorts[key] : undefined;
  if (order === undefined)
    throw new UsageError(`--sort should be one of ${Object.keys(sorts).join(', ')}, not "${key}"`);
  return order;
}

function warningsOf({broken}: Measured<unknown>): readonly string[] {
  return broken.map(({title, reason}) => `no stats of ${title}: ${reason}`);
}
