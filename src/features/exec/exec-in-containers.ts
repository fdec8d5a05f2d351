import {anySignal} from '../../base/async/any-signal.js';
import {UsageError} from '../../base/errors.js';
import {createDeadline, type Deadline} from '../../base/async/deadline.js';
import {isExecTimeoutResponse} from '../../format/exec-error.js';
import {ExecTimeoutError, withToolsHint} from '../../operations/exec/exec-errors.js';
import {NothingFoundError, type Target} from '../../operations/resolve/target.js';
import {withContext} from '../../operations/with-context.js';
import type {ContainerId} from '../../cri/index.js';
import type {
  CommandContext,
  ConnectionContext,
  DialectContext,
  EnvironmentContext,
  OutputContext,
  ResolvingContext,
  RuntimeContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {forEachTarget} from '../../cli/command/for-each-target.js';
import {EXIT} from '../../cli/process/exit-codes.js';
import {parseContainerSelection, choosePodContainers} from '../containers/select-containers.js';
import {requireCommand, splitExecWords, type ExecFlags} from './exec-flags.js';
import {execSyncInContainer, streamExecInContainer, type ExecTarget} from './exec-in-container.js';

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly exec: ExecStrategy;
  }
}

/** Runs a command in containers: `exec` of a dialect. */
export type ExecStrategy = (
  services: CommandContext,
  words: readonly string[],
  flags: ExecFlags,
) => Promise<void>;

/** Number of containers in which --parallel runs a command concurrently. */
const PARALLELISM = 64;

/** Runs a command in the named container or in all selected ones. Rejects with KcriError. */
export const execInContainers: ExecStrategy = async (services, words, flags) => {
  const {out, report} = services;
  const {refs, command} = parseWords(words, flags);
  const targets = await selectTargets(services, refs, flags);
  const several = targets.length > 1;
  if (several && (flags.interactive || flags.tty))
    throw new UsageError(`-i and -t require exactly one container, but ${targets.length} match`);
  const labels = flags.quiet || !several ? 'none' : flags.parallel ? 'prefix' : 'header';
  const runIn = async (id: ContainerId, ref: string): Promise<void> => {
    if (labels === 'header') out.print(`${id}:`);
    const running = flags.sync
      ? runSync(services, {id, ref}, command, flags)
      : stream(services, {id, ref}, command, {flags, prefixed: labels === 'prefix'});
    const explained = running.catch((error: unknown) => {
      throw withToolsHint(error, ref);
    });
    const exitCode = await withContext(`running "${command[0] ?? ''}" in container "${ref}"`, explained);
    if (several && exitCode !== EXIT.ok)
      report.info(`kcri: the command exited with ${exitCode} in container "${ref}"`);
    report.setExitCode(exitCode);
  };
  await forEachTarget(services, targets, runIn, flags.parallel ? PARALLELISM : 1);
};

function parseWords(words: readonly string[], flags: ExecFlags) {
  const {refs, command: rest} = splitExecWords(words, flags);
  const command = refs.length > 0 && rest[0] === '--' ? rest.slice(1) : rest;
  requireCommand(command);
  if (flags.latest === true && command.length > 1) rejectSelectorOfKubectl(command[0] ?? '');
  checkFlags(flags);
  return {refs, command};
}

/** Throws UsageError if `-l` was probably meant as kubectl's selector: no program has such a name. */
function rejectSelectorOfKubectl(word: string): void {
  if (/^[\w./-]+!?==?[\w.-]*(,\S*)?$/.test(word))
    throw new UsageError(`-l is --latest in exec, as in crictl, and "${word}" would be the command`, {
      hint: `use --selector=${word}`,
    });
}

/** Throws UsageError for flags that exclude each other. */
function checkFlags({timeout, sync, interactive, tty, env = []}: ExecFlags): void {
  if (timeout < 0) throw new UsageError('--timeout must not be negative');
  if (sync && (interactive || tty))
    throw new UsageError('--sync cannot be combined with -i or -t', {
      hint: 'remove -s, or remove -i and -t',
    });
  const invalid = env.find((variable) => !/^[^=]+=/.test(variable));
  if (invalid !== undefined) throw new UsageError(`invalid --env "${invalid}": must be NAME=VALUE`);
}

async function selectTargets(
  services: RuntimeContext & DialectContext & ResolvingContext,
  refs: readonly string[],
  flags: ExecFlags,
): Promise<readonly Target<ContainerId>[]> {
  const selection = await parseContainerSelection(refs, flags, {states: 'running'});
  const connection = await services.connections.default();
  const targets = await choosePodContainers(services, connection, selection, flags);
  if (targets.length === 0) throw noContainersError();
  return targets;
}

/** Returns the error for filters that select no container. */
export function noContainersError(): NothingFoundError {
  return new NothingFoundError('No containers found per filter flags', {
    hint: 'run "kcri ps -a" to list containers',
  });
}

async function runSync(
  services: ConnectionContext & OutputContext & SignalContext,
  target: ExecTarget,
  command: readonly string[],
  flags: ExecFlags,
): Promise<number> {
  const response = await execSyncInContainer(services, target, command, flags);
  if (isExecTimeoutResponse(response)) throw new ExecTimeoutError(command, flags.timeout);
  const {stdout, stderr, exitCode} = response;
  services.out.stdout.write(stdout);
  if (stderr.length > 0) services.out.stderr.write(stderr);
  return exitCode;
}

async function stream(
  services: RuntimeContext & DialectContext & OutputContext,
  target: ExecTarget,
  command: readonly string[],
  {flags, prefixed}: {readonly flags: ExecFlags; readonly prefixed: boolean},
): Promise<number> {
  using limit = timeLimit(services, command, flags.timeout);
  using either = anySignal(services.signal, limit.signal);
  const {signal} = either;
  return (await streamExecInContainer(services, target, command, {flags, signal, prefixed})).exitCode;
}

function timeLimit({context}: EnvironmentContext, command: readonly string[], seconds: number): Deadline {
  return createDeadline(
    context.clock,
    seconds === 0 ? undefined : seconds * 1000,
    () => new ExecTimeoutError(command, seconds, {hint: 'the command may still be running in the container'}),
  );
}
