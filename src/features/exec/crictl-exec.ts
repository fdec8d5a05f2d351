import {CommandExitError} from '../../operations/exec/exec-errors.js';
import {parseLabels} from '../../operations/filters/list-filters.js';
import type {Target} from '../../operations/resolve/target.js';
import {withContext} from '../../operations/with-context.js';
import type {ContainerId} from '../../cri/index.js';
import type {
  ConnectionContext,
  DialectContext,
  OutputContext,
  ResolvingContext,
  RuntimeContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {noContainersError, type ExecStrategy} from './exec-in-containers.js';
import {execSyncInContainer, streamExecInContainer, type ExecTarget} from './exec-in-container.js';
import {requireCommand, splitExecWords, type ExecFlags} from './exec-flags.js';
import {EXIT} from '../../cli/process/exit-codes.js';
import {parseContainerSelection, selectContainers} from '../containers/select-containers.js';
import {listCrictlContainers, withErrorContext} from '../lists/crictl-lists.js';

/**
 * Runs a command as `crictl exec` does: in all containers at once, with the errors at the end in container order.
 * --timeout only applies to ExecSync.
 */
export const crictlExec: ExecStrategy = async (services, words, flags) => {
  const {out, report} = services;
  const {refs, command} = splitExecWords(words, flags);
  requireCommand(command);
  if (flags['ignore-errors'] && !flags.quiet)
    report.warn(
      'The `--ignore-errors` option has been set all errors returned by the command will be ignored.',
    );
  const targets = await selectTargets(services, refs, flags);
  if (targets.length === 0) throw noContainersError();
  await checkTls(flags);
  const labeled = !flags.quiet && refs.length === 0;
  if (labeled && !flags.parallel) for (const {ref} of inGoroutineOrder(targets)) out.print(`${ref}:`);
  const found = targets.filter((target) => target.kind === 'found');
  const results = await Promise.allSettled(
    found.map(async (target) => {
      const {id} = target;
      const running = flags.sync
        ? runSync(services, target, command, flags)
        : stream(services, target, command, flags);
      const activity = `execing command in container ${id}${flags.sync ? ' synchronously' : ''}`;
      report.setExitCode(await withContext(activity, running));
    }),
  );
  if (flags['ignore-errors']) return;
  for (const result of results) if (result.status === 'rejected') report.fail(result.reason);
};

/** Checks the TLS flags, also for calls that have no use for them. Rejects with UsageError. */
async function checkTls(flags: ExecFlags): Promise<void> {
  if ((flags['tls-ca'] ?? flags['tls-cert'] ?? flags['tls-key']) === undefined) return;
  const {crictlTlsOptions} = await import('../sessions/crictl-streaming.js');
  crictlTlsOptions(flags);
}

async function selectTargets(
  services: ConnectionContext & ResolvingContext & SignalContext,
  refs: readonly string[],
  flags: ExecFlags,
): Promise<readonly Target<ContainerId>[]> {
  if (refs.length > 0) {
    const selection = await parseContainerSelection(refs, flags, {states: 'running'});
    return await selectContainers(await services.connections.default(), selection, services.resolving({}));
  }
  parseLabels(flags.label);
  const connection = await services.connections.default();
  const containers = await withErrorContext('listing containers', () =>
    listCrictlContainers(connection, flags, services.signal),
  );
  return containers.map(({id}) => ({kind: 'found', ref: id, id}));
}

/** Orders items as Go runs goroutines that start in sequence: the last one first. */
function inGoroutineOrder<T>(items: readonly T[]): readonly T[] {
  return [...items.slice(-1), ...items.slice(0, -1)];
}

async function runSync(
  services: ConnectionContext & OutputContext & SignalContext,
  target: ExecTarget,
  command: readonly string[],
  flags: ExecFlags,
): Promise<number> {
  const {stdout, stderr, exitCode} = await execSyncInContainer(services, target, command, flags);
  if (exitCode !== EXIT.ok) {
    const output = Buffer.from(stderr).toString();
    throw new CommandExitError(exitCode, `command '${command.join(' ')}' exited with ${exitCode}: ${output}`);
  }
  for (const text of [stdout, '\n', stderr, '\n']) services.out.stdout.write(text);
  return exitCode;
}

async function stream(
  services: RuntimeContext & DialectContext & OutputContext,
  target: ExecTarget,
  command: readonly string[],
  flags: ExecFlags,
): Promise<number> {
  const {signal} = services;
  const end = await streamExecInContainer(services, target, command, {flags, signal, prefixed: false});
  if (end.kind === 'exited' && end.exitCode !== EXIT.ok) throw new CommandExitError(end.exitCode);
  return end.exitCode;
}
