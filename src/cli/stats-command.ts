import * as Flags from '@oclif/core/flags';
import {SystemError, UsageError} from '../base/errors.js';
import type {Init, MessageTypes} from '../cri/index.js';
import {renderTable, type Column} from '../format/table.js';
import type {Measured} from '../operations/stats.js';
import type {Usage} from '../operations/usage.js';
import type {Target} from '../operations/resolve.js';
import {integerFlag, listFlag} from './flags.js';
import type {FormFlags} from './form.js';
import {formOf, outputFlag, templateFlag, type Form} from './formats.js';
import {ArgumentsError} from './usage-errors.js';
import {arranger, listFlags, listTable, type ListFlagValues, type Orders} from './list-flags.js';
import {WatchCommand} from './watch-command.js';

const FORMATS = ['table', 'wide', 'json', 'yaml'] as const;

type StatsForm = Form<(typeof FORMATS)[number]>;

/** What `stats` and `statsp` share. */
export function statsFlags(orders: Readonly<Record<string, unknown>>) {
  const {sort, reverse, 'no-headers': noHeaders} = listFlags(orders);
  return {
    label: listFlag({description: 'Only those with a label, as KEY=VALUE.'}),
    output: outputFlag(FORMATS),
    template: templateFlag,
    seconds: integerFlag({
      char: 's',
      default: 1,
      helpValue: 'N',
      description: 'Seconds over which the use of CPU is measured.',
    }),
    watch: Flags.boolean({char: 'w', description: 'Measure again and again, until Ctrl-C.'}),
    sort,
    reverse,
    'no-headers': noHeaders,
  };
}

/** The values of these flags. */
export interface StatsFlagValues extends ListFlagValues, FormFlags {
  readonly seconds: number;
  readonly watch: boolean;
}

/** The stats of one kind of object, and how they are shown. */
export interface StatsKind<T, Name extends keyof MessageTypes> {
  readonly measure: () => Promise<Measured<T>>;
  readonly usage: (before: readonly T[], after: readonly T[]) => readonly Usage<T>[];
  readonly columns: (wide: boolean) => readonly Column<Usage<T>>[];
  readonly orders: Orders<Usage<T>>;
  /** The message that a list of them makes. */
  readonly message: {readonly name: Name; readonly of: (stats: readonly T[]) => Init<MessageTypes[Name]>};
  /** Show what has used nothing as well. */
  readonly idle: boolean;
}

const CLEAR_SCREEN = '\u001B[2J\u001B[H';

/** What `stats` and `statsp` are built on: two samples make a table, one is shown as an object. */
export abstract class StatsCommand extends WatchCommand {
  /** The one id that crictl takes, as flag or argument; kcri takes several words. */
  protected refsOf(words: readonly string[], id: string | undefined): readonly string[] {
    if (this.compat && words.length > 1) throw new ArgumentsError(`unexpected argument "${words[1] ?? ''}"`);
    if (this.compat) return [id ?? '', ...words].filter((ref) => ref !== '').slice(0, 1);
    return id === undefined ? words : [id, ...words];
  }

  /** The ids of what was found; what was not is shown as an error. Undefined when words named nothing that is there. */
  protected idsOf<Id>(targets: readonly Target<Id>[]): readonly Id[] | undefined {
    for (const target of targets) if (target.kind === 'missing') this.fail(target.error);
    const ids = targets.flatMap((target) => (target.kind === 'found' ? [target.id] : []));
    return ids.length === 0 && targets.length > 0 ? undefined : ids;
  }

  /** The form to show stats in. Throws UsageError. */
  protected async statsForm(flags: StatsFlagValues): Promise<StatsForm> {
    if (flags.seconds < 1 && !this.compat) throw new UsageError('--seconds should be 1 or more');
    return await formOf(flags, FORMATS, this);
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
        pauseMs: flags.seconds * 1000,
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
    {usage, columns, orders, idle}: Pick<StatsKind<T, never>, 'usage' | 'columns' | 'orders' | 'idle'>,
  ): (before: readonly T[], after: readonly T[]) => string {
    const shown = (row: Usage<T>): boolean => idle || !row.idle;
    if (this.compat)
      return (before, after) =>
        CLEAR_SCREEN +
        renderTable(columns(false), usage(before, after).filter(shown).filter(isMeasured)).toString();
    const arrange = arranger(flags, orders);
    const layout = {'no-headers': flags['no-headers'], narrow: wide, forTerminal: this.forTerminal};
    return (before, after) =>
      listTable(columns(wide), arrange(usage(before, after).filter(shown)), layout).toString();
  }
}

/** crictl leaves out what is new, and gives up for what the runtime did not measure twice. */
function isMeasured({cpuPercent}: Usage<unknown>): boolean {
  if (cpuPercent === 'stale') throw new SystemError('cpu stat is not updated during sample');
  return cpuPercent !== 'new';
}

function warningsOf({broken}: Measured<unknown>): readonly string[] {
  return broken.map(({title, reason}) => `no stats of ${title}: ${reason}`);
}
