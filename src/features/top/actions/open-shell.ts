import type {Connection, ContainerId} from '../../../cri/index.js';
import {SystemError} from '../../../base/errors.js';
import {startFailure} from '../../../operations/exec/exec-errors.js';
import {startExecSession} from '../../../operations/exec/start-exec-session.js';
import type {DialectContext, OutputContext, RuntimeContext} from '../../../cli/command/contexts.js';
import type {RemoteSession} from '../../../streaming/session/session.js';
import {KCRI_SESSION, runCommandSession} from '../../sessions/command-session.js';

/** Starts the best shell of a container. */
const SHELL = ['sh', '-c', 'command -v bash >/dev/null 2>&1 && exec bash; exec sh'];

/** Runs a shell in a container on this process's terminal, until it exits. Rejects with KcriError. */
export async function openShell(
  services: RuntimeContext & DialectContext & OutputContext,
  {runtime}: Connection,
  container: {readonly id: ContainerId; readonly title: string},
): Promise<void> {
  const end = await runCommandSession(services, {
    containerName: container.title,
    open: async (streams, options) =>
      await startExecSession(runtime, container.id, {...streams, command: SHELL}, options),
    flags: {},
    streams: {stdin: true, tty: true},
  });
  if (end.kind !== 'failed') return;
  const reason = startFailure(end.message)?.reason ?? end.message;
  throw new SystemError(
    `cannot start a shell in ${container.title}: ${reason}; "kcri debug --image=busybox ${container.title}" brings one`,
  );
}

/**
 * Starts a shell on a terminal in a container; the caller connects its streams. The signal ends the start. Rejects with KcriError.
 */
export async function startTerminal(
  services: RuntimeContext,
  {runtime}: Connection,
  {id}: {readonly id: ContainerId},
  signal: AbortSignal,
): Promise<RemoteSession> {
  const streams = {stdin: true, stdout: true, stderr: false, tty: true};
  const options = {...KCRI_SESSION.openOptions(services, {}, streams), signal};
  return await startExecSession(runtime, id, {...streams, command: SHELL}, options);
}
