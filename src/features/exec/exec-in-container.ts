import {execSync} from '../../operations/exec/exec-sync.js';
import {ExecFailedError} from '../../operations/exec/exec-errors.js';
import {wrapCommand} from '../../operations/exec/wrap-command.js';
import {escapeToLine} from '../../format/escape-controls.js';
import {truncateId} from '../../format/truncate-id.js';
import type {ContainerId} from '../../cri/index.js';
import type {
  ConnectionContext,
  DialectContext,
  EnvironmentContext,
  OutputContext,
  RuntimeContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {runCommandSession, type SessionResult} from '../sessions/command-session.js';
import type {ExecFlags} from './exec-flags.js';

/** Container to run a command in. */
export interface ExecTarget {
  readonly id: ContainerId;
  /** Name of the container as the user gave it. */
  readonly ref: string;
}

/** Runs a command with ExecSync. */
export async function execSyncInContainer(
  services: ConnectionContext & SignalContext,
  {id}: ExecTarget,
  command: readonly string[],
  flags: ExecFlags,
) {
  const {runtime} = await services.connections.default();
  const {signal} = services;
  return await execSync(runtime, id, {command: wrap(command, flags), timeoutSeconds: flags.timeout, signal});
}

/** Options of a session that runs a command. */
export interface StreamExecOptions {
  readonly flags: ExecFlags;
  /** Signal that ends the session. */
  readonly signal: AbortSignal;
  /** True if the container's ID precedes each line. */
  readonly prefixed: boolean;
}

/** Runs a command in a session connected to this process's streams. Rejects with ExecFailedError if it cannot start. */
export async function streamExecInContainer(
  services: RuntimeContext & DialectContext & OutputContext,
  {id, ref}: ExecTarget,
  words: readonly string[],
  {flags, signal, prefixed}: StreamExecOptions,
): Promise<Exclude<SessionResult, {readonly kind: 'failed'}>> {
  const command = wrap(words, flags);
  const {runtime} = await services.connections.default();
  const end = await runCommandSession(services, {
    containerName: ref,
    open: async (streams, options) => {
      // Not needed with --sync.
      const {startExecSession} = await import('../../operations/exec/start-exec-session.js');
      const probe = streams.stdin && !streams.tty ? await execProbe(services, id) : undefined;
      return await startExecSession(runtime, id, {...streams, command}, {...options, probe});
    },
    flags,
    streams: {stdin: flags.interactive, tty: flags.tty},
    signal,
    prefix: prefixed ? `[${escapeToLine(truncateId(id))}] ` : undefined,
  });
  if (end.kind === 'failed') throw new ExecFailedError(end.message);
  return end;
}

async function execProbe(
  {connections, context: {clock}}: ConnectionContext & EnvironmentContext,
  containerId: ContainerId,
) {
  const {createExecProbe} = await import('../../operations/exec/exec-probe.js');
  return createExecProbe({containerId, clock, connect: () => connections.containerd('runtime')});
}

/** Runs the command through the container's own programs for the flags that the CRI lacks. */
function wrap(command: readonly string[], {env = [], workdir, user}: ExecFlags): readonly string[] {
  return wrapCommand(command, {env, workdir, user});
}
