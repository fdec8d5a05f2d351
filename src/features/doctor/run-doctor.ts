import {UsageError} from '../../base/errors.js';
import type {CommandContext, OutputContext, RuntimeContext} from '../../cli/command/contexts.js';
import {wantsColor} from '../../cli/output/output.js';
import type {OutputFlagValues} from '../../cli/output/output-format.js';
import {requireNoTerminal} from '../../cli/output/write-chunks.js';
import {formatSorted, parseOutputFormat} from '../../cli/output/parse-output-format.js';
import {commandPrefix} from '../why/answer.js';
import type {Check, CheckResult} from './check.js';
import {DOCTOR_FORMATS, EXIT_CODES, resultJson} from './doctor-output.js';
import {collectSnapshot} from './collect-snapshot.js';
import {recordRun} from './readers/run-history.js';
import {runChecks, selectChecks, worstOf} from './run-checks.js';
import type {FileToSave} from './save-node.js';

/** Flags of `doctor`. */
export interface DoctorFlags extends OutputFlagValues {
  readonly only?: readonly string[] | undefined;
  /** File to save the node to, `-` for standard output. */
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
  const file = fileToSave(services, flags);
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
    const output = file?.stdout === undefined ? out.stdout : out.stderr;
    const chalk = new Chalk({level: wantsColor(services.context.env, output) ? 1 : 0});
    output.write(doctorText(results, {chalk, prefix}));
  } else {
    const items = results.map((result) => resultJson(result, prefix));
    out.printData((await formatSorted(form, {items})).replace(/\n\n$/, '\n'));
  }
  report.setExitCode(EXIT_CODES[worstOf(results)]);
}

/** Returns the file to save to; undefined if nothing is saved. Throws UsageError for flags that contradict each other. */
function fileToSave({out}: OutputContext, flags: DoctorFlags): FileToSave | undefined {
  const {from, save: path, 'max-size': maxBytes} = flags;
  if (path !== undefined && from !== undefined) throw new UsageError('--save cannot be combined with --from');
  if (path === undefined && maxBytes !== undefined) throw new UsageError('--max-size requires --save');
  if (path === undefined) return undefined;
  const file = {path, maxBytes: Number(maxBytes ?? MAX_SAVED_BYTES)};
  if (path !== '-') return file;
  const {output, template, format} = flags;
  if ((output ?? template ?? format) !== undefined)
    throw new UsageError('--save=- and an output format would both write to standard output', {
      hint: 'name a file',
    });
  requireNoTerminal(out.stdout, '--save=FILE');
  return {...file, stdout: out.stdout};
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
