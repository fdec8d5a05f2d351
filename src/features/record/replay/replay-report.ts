import {counted} from '../../../base/counted.js';
import type {CommandServices} from '../../../cli/command/command-services.js';
import type {OutputFormat} from '../../../cli/output/output-format.js';
import {formatSorted} from '../../../cli/output/parse-output-format.js';
import type {JsonObject} from '../../../format/json.js';
import type {SkippedCall} from '../../../recording/replay/recorded-calls.js';
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
  if (form.kind === 'table') out.printText(result.differences.map(callText).join(''));
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

function callText(difference: CallDifference): string {
  const [title = '', ...rest] = differenceText(difference).split('\n');
  return [`${title} (call ${difference.call})`, ...rest].join('\n');
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
