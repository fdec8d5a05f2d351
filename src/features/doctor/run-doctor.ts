import {UsageError} from '../../base/errors.js';
import type {CommandContext, RuntimeContext} from '../../cli/command/contexts.js';
import type {OutputFlagValues} from '../../cli/output/output-format.js';
import {formatSorted, parseOutputFormat} from '../../cli/output/parse-output-format.js';
import {commandPrefix} from '../why/answer.js';
import type {Check, CheckResult} from './check.js';
import {DOCTOR_FORMATS, EXIT_CODES, resultJson} from './doctor-output.js';
import {collectSnapshot} from './collect-snapshot.js';
import {recordRun} from './readers/run-history.js';
import {runChecks, selectChecks, worstOf} from './run-checks.js';

/** Flags of `doctor`. */
export interface DoctorFlags extends OutputFlagValues {
  readonly only?: readonly string[] | undefined;
  /** File to save the node to. */
  readonly save?: string | undefined;
  /** Largest size of what is saved, in bytes. */
  readonly 'max-size'?: bigint | undefined;
  /** Saved nodes to examine instead of running ones. */
  readonly from?: readonly string[] | undefined;
}

/** Largest size of what is saved by default, in bytes. */
const MAX_SAVED_BYTES = 16n * 1024n * 1024n;

/**
 * Examines nodes, prints a line about each check, or of several nodes a line about each and what is not ok, and sets the exit
 * code. Saves the node if that is asked for. Rejects with UsageError, ConfigError and SystemError.
 */
export async function runDoctor(services: CommandContext, flags: DoctorFlags): Promise<void> {
  const checks = selectChecks(flags.only ?? []);
  const form = await parseOutputFormat(flags, DOCTOR_FORMATS);
  const file = fileToSave(flags);
  if (services.settings.runtimeEndpoints.length > 1) {
    if (file !== undefined) throw new UsageError('--save takes only one --runtime-endpoint');
    const {examineNodes} = await import('./examine-nodes.js');
    await examineNodes(services, form, async (node) => await examine(node, checks));
    return;
  }
  const {out, report} = services;
  const results = await examine(services, checks, file);
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

/** File to save a node to, and its largest size in bytes. */
interface FileToSave {
  readonly path: string;
  readonly maxBytes: number;
}

/** Returns the file to save to; undefined if nothing is saved. Throws UsageError for flags that contradict each other. */
function fileToSave({from, save, 'max-size': maxBytes}: DoctorFlags): FileToSave | undefined {
  if (save !== undefined && from !== undefined) throw new UsageError('--save cannot be combined with --from');
  if (save === undefined && maxBytes !== undefined) throw new UsageError('--max-size requires --save');
  return save === undefined ? undefined : {path: save, maxBytes: Number(maxBytes ?? MAX_SAVED_BYTES)};
}

/** Examines a node, which may be a saved one. */
async function examine(
  services: RuntimeContext,
  checks: readonly Check[],
  file?: FileToSave,
): Promise<readonly CheckResult[]> {
  if (!(await services.settings.isSaved())) return await examineHere(services, checks, file);
  const {runSavedChecks} = await import('./saved-checks.js');
  return await runSavedChecks(services, checks);
}

/** Examines a running node, and saves it if a file is given. */
async function examineHere(
  services: RuntimeContext,
  checks: readonly Check[],
  file: FileToSave | undefined,
): Promise<readonly CheckResult[]> {
  const snapshot = await collectSnapshot(services);
  await recordRun(services.settings.rootDir, snapshot);
  if (file !== undefined) {
    const {saveNode} = await import('./save-node.js');
    await saveNode(services, snapshot, file);
  }
  return runChecks(checks, snapshot);
}
