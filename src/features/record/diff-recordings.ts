import {ConfigError} from '../../base/errors.js';
import {counted} from '../../base/counted.js';
import type {CommandServices} from '../../cli/command/command-services.js';
import type {OutputFormat} from '../../cli/output/output-format.js';
import {formatSorted} from '../../cli/output/parse-output-format.js';
import {compareRuns} from '../../recording/canonical/compare-runs.js';
import {recordedRun} from '../../recording/canonical/recorded-run.js';
import {readUndamaged} from '../../recording/lines/read-recording.js';
import {differenceJson, differenceText} from './format-differences.js';

/** Prints how the mutating calls of two recordings differ. Resolves with true if they do. */
export async function diffRecordings(
  {out, report, signal}: Pick<CommandServices, 'out' | 'report' | 'signal'>,
  paths: readonly [string, string],
  form: OutputFormat<'table' | 'json' | 'yaml'>,
): Promise<boolean> {
  const warn = (text: string): void => {
    report.warn(text);
  };
  const read = async (path: string) => await recordedRun(readUndamaged(path, {signal, warn}));
  const [a, b] = [await read(paths[0]), await read(paths[1])];
  for (const [index, {incomplete}] of [a, b].entries())
    if (incomplete > 0)
      report.warn(
        `${counted(incomplete, 'call')} of "${paths[index] ?? ''}" cannot be compared: not recorded in full`,
      );
  if (a.calls.length + b.calls.length === 0 && a.incomplete + b.incomplete > 0)
    throw new ConfigError('no call of the recordings can be compared', {
      hint: 'record them from the creation of the pods on, with a larger --max-message',
    });
  if (a.calls.length + b.calls.length === 0)
    report.info('kcri: note: neither recording has calls that change something: nothing was compared');
  const differences = compareRuns(a.calls, b.calls);
  if (form.kind === 'table') out.printText(differences.map(differenceText).join(''));
  else out.printData(await formatSorted(form, {differences: differences.map(differenceJson)}));
  return differences.length > 0;
}
