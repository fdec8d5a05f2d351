import type {OutputContext, RuntimeContext} from '../../cli/command/contexts.js';
import type {OutputFlagValues} from '../../cli/output/output-format.js';
import {formatSorted, parseOutputFormat} from '../../cli/output/parse-output-format.js';
import {EXIT} from '../../cli/process/exit-codes.js';
import {adviceText, commandPrefix} from '../why/answer.js';
import type {CheckResult} from './check.js';
import {collectSnapshot} from './collect-snapshot.js';
import {recordLatencies} from './readers/history.js';
import {runChecks, selectChecks, worstOf} from './run-checks.js';

/** Output formats of `doctor`. */
export const DOCTOR_FORMATS = ['table', 'json', 'yaml'] as const;

/** Flags of `doctor`. */
export interface DoctorFlags extends OutputFlagValues {
  readonly only?: readonly string[] | undefined;
}

const EXIT_CODES = {ok: EXIT.ok, warning: EXIT.failed, failure: EXIT.nodeFailed} as const;

/** Examines this node, prints a line about each check, and sets the exit code. Rejects with UsageError. */
export async function runDoctor(services: RuntimeContext & OutputContext, flags: DoctorFlags): Promise<void> {
  const {out, report} = services;
  const checks = selectChecks(flags.only ?? []);
  const form = await parseOutputFormat(flags, DOCTOR_FORMATS);
  const snapshot = await collectSnapshot(services);
  const results = runChecks(checks, snapshot);
  await recordLatencies(services.settings.rootDir, snapshot);
  const prefix = commandPrefix(services);
  if (form.kind === 'table') {
    const [{Chalk}, {doctorText}] = await Promise.all([import('chalk'), import('./doctor-text.js')]);
    out.stdout.write(doctorText(results, {chalk: new Chalk({level: out.colors ? 1 : 0}), prefix}));
  } else {
    const items = results.map((result) => resultJson(result, prefix));
    out.printData((await formatSorted(form, {items})).replace(/\n\n$/, '\n'));
  }
  report.setExitCode(EXIT_CODES[worstOf(results)]);
}

function resultJson(
  {id, area, title, result, message, reason, details, remedy}: CheckResult,
  prefix: readonly string[],
) {
  return {
    id,
    area,
    title,
    result,
    message,
    ...(reason !== undefined && {reason}),
    details: [...details],
    remedy: remedy.map((advice) => adviceText(advice, prefix)),
  };
}
