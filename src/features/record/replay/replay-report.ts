import {counted} from '../../../base/counted.js';
import type {CommandServices} from '../../../cli/command/command-services.js';
import type {OutputFormat} from '../../../cli/output/output-format.js';
import {formatSorted} from '../../../cli/output/parse-output-format.js';
import type {JsonObject} from '../../../format/json.js';
import type {SkippedCall} from '../../../recording/replay/recorded-calls.js';
import type {FieldDifference} from '../../../recording/canonical/compare-runs.js';
import {differenceJson, differenceText} from '../format-differences.js';
import type {CallDifference, ReplayPace} from './replayer.js';

/** Result of a replay. */
export interface ReplayReport {
  readonly file: string;
  /** Program and endpoint that the header of the recording names. */
  readonly recording: JsonObject;
  /** Name and version of the runtime. */
  readonly runtime: {readonly name: string; readonly version: string};
  readonly pace: ReplayPace;
  readonly replayed: number;
  readonly differences: readonly CallDifference[];
  readonly skipped: readonly SkippedCall[];
  readonly damagedLines: number;
  /** Number of masked values in the requests that were made. */
  readonly maskedValues: number;
}

/** Prints what was answered differently, and reports what was not replayed. */
export async function printReplay(
  {out, report}: Pick<CommandServices, 'out' | 'report'>,
  result: ReplayReport,
  form: OutputFormat<'table' | 'json' | 'yaml'>,
): Promise<void> {
  for (const warning of replayWarnings(result)) report.warn(warning);
  if (form.kind === 'table') out.printText(differencesText(result.differences));
  else out.printData(await formatSorted(form, replayJson(result)));
  const {name, version} = result.runtime;
  report.info(
    `kcri: note: replayed ${counted(result.replayed, 'call')} of "${result.file}" on ${name} ${version}: ${answersText(result)}`,
  );
}

function answersText({replayed, differences}: ReplayReport): string {
  if (replayed === 0) return 'no answer was compared';
  return differences.length === 0 ? 'all answered as recorded' : `${differences.length} answered differently`;
}

/** Returns warnings about what was not replayed, one for each reason. Pure. */
export function replayWarnings({
  skipped,
  damagedLines,
  maskedValues,
}: Pick<ReplayReport, 'skipped' | 'damagedLines' | 'maskedValues'>): readonly string[] {
  const reasons = new Set(skipped.map(({reason}) => reason));
  return [
    ...[...reasons].map((reason) => {
      const calls = skipped.filter((each) => each.reason === reason);
      const methods = [...new Set(calls.map(({method}) => method))].join(', ');
      return `${counted(calls.length, 'call')} not replayed (${methods}): ${reason}`;
    }),
    ...(damagedLines > 0 ? [`${counted(damagedLines, 'damaged line')} of the recording skipped`] : []),
    ...(maskedValues > 0
      ? [`${counted(maskedValues, 'value')} masked in the recording: "***" is used instead`]
      : []),
  ];
}

/**
 * Formats what was answered differently, each member of an object once: a client that reads the status of a container each
 * second would have one for each read. Pure.
 */
export function differencesText(differences: readonly CallDifference[]): string {
  const calls = new Map<string, number>();
  // Paths in lists have the object, and the same list of all pods differs, too.
  const keyOf = ({method, pod, object, kind}: CallDifference, field: FieldDifference | undefined): string =>
    JSON.stringify([method, kind, ...(method.startsWith('List') ? [] : [pod, object]), field]);
  const keysOf = (each: CallDifference): readonly string[] =>
    each.fields.length === 0 ? [keyOf(each, undefined)] : each.fields.map((field) => keyOf(each, field));
  const news = differences.map((each) => {
    const known = keysOf(each).map((key) => calls.has(key));
    for (const key of keysOf(each)) calls.set(key, (calls.get(key) ?? 0) + 1);
    return {
      each,
      isNew: known.includes(false),
      fields: each.fields.filter((_, index) => known[index] === false),
    };
  });
  return news
    .filter(({isNew}) => isNew)
    .map(({each, fields}) => {
      const shown = {...each, fields};
      return callText(shown, Math.max(...keysOf(shown).map((key) => calls.get(key) ?? 1)) - 1);
    })
    .join('');
}

function callText(difference: CallDifference, others: number): string {
  const [title = '', ...rest] = differenceText(difference).split('\n');
  const more = others > 0 ? `, and ${others} more` : '';
  return [`${title} (call ${difference.call}${more})`, ...rest].join('\n');
}

function replayJson(result: ReplayReport): JsonObject {
  const {file, recording, runtime, pace, replayed, damagedLines, maskedValues} = result;
  return {
    recording: {file, ...recording},
    runtime,
    pace,
    replayed,
    damagedLines,
    maskedValues,
    differences: result.differences.map((each) => differenceJson(each)),
    notReplayed: result.skipped.map(({number, method, reason}) => ({call: number, method, reason})),
  };
}
