import {UsageError} from '../../base/errors.js';
import type {OutputContext, RuntimeContext} from '../../cli/command/contexts.js';
import type {OutputFlagValues} from '../../cli/output/output-format.js';
import {formatSorted, parseOutputFormat} from '../../cli/output/parse-output-format.js';
import {EXIT} from '../../cli/process/exit-codes.js';
import {adviceText, commandPrefix} from '../why/answer.js';
import type {Check, CheckResult} from './check.js';
import {collectSnapshot} from './collect-snapshot.js';
import {recordLatencies} from './readers/history.js';
import {runChecks, selectChecks, worstOf} from './run-checks.js';

/** Output formats of `doctor`. */
export const DOCTOR_FORMATS = ['table', 'json', 'yaml'] as const;

/** Flags of `doctor`. */
export interface DoctorFlags extends OutputFlagValues {
  readonly only?: readonly string[] | undefined;
  /** File to save the node to. */
  readonly save?: string | undefined;
  /** Largest size of what is saved, in bytes. */
  readonly 'max-size'?: bigint | undefined;
  /** Snapshot of a node to examine instead of this one. */
  readonly from?: string | undefined;
}

/** Largest size of what is saved by default, in bytes. */
const MAX_SAVED_BYTES = 16n * 1024n * 1024n;

const EXIT_CODES = {ok: EXIT.ok, warning: EXIT.failed, failure: EXIT.nodeFailed} as const;

/**
 * Examines this node or a saved one, prints a line about each check, and sets the exit code. Saves this node if that is asked
 * for. Rejects with UsageError, ConfigError and SystemError.
 */
export async function runDoctor(services: RuntimeContext & OutputContext, flags: DoctorFlags): Promise<void> {
  const {out, report} = services;
  const checks = selectChecks(flags.only ?? []);
  const form = await parseOutputFormat(flags, DOCTOR_FORMATS);
  const {from, save, 'max-size': maxBytes = MAX_SAVED_BYTES} = flags;
  if (save !== undefined && from !== undefined) throw new UsageError('--save cannot be combined with --from');
  if (save === undefined && flags['max-size'] !== undefined)
    throw new UsageError('--max-size requires --save');
  const results =
    from === undefined
      ? await examineHere(
          services,
          checks,
          save === undefined ? undefined : {path: save, maxBytes: Number(maxBytes)},
        )
      : await (await import('./saved-checks.js')).runSavedChecks(services, checks, from);
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

/** Examines this node, and saves it if a file is given. */
async function examineHere(
  services: RuntimeContext,
  checks: readonly Check[],
  file: {readonly path: string; readonly maxBytes: number} | undefined,
): Promise<readonly CheckResult[]> {
  const snapshot = await collectSnapshot(services);
  await recordLatencies(services.settings.rootDir, snapshot);
  if (file !== undefined) {
    const {saveNode} = await import('./save-node.js');
    await saveNode(services, snapshot, file);
  }
  return runChecks(checks, snapshot);
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
