import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {closeSync, openSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import type {Clock} from '../../base/clock.js';
import {messageOf, SystemError} from '../../base/errors.js';
import {connect, CriError} from '../../cri/index.js';
import type {PrivateRuntimeLayout} from '../private-runtime-layout.js';
import {identityOf, isRunning, type ProcessIdentity} from '../process/running-process.js';
import {programStartError} from '../process/run-host-program.js';

const READY_TIMEOUT_MS = 30_000;
const LOG_TAIL_LINES = 5;

/**
 * Starts containerd with the layout's configuration, as a detached process that outlives this one and writes to the
 * layout's log file.
 */
export async function startContainerd(
  containerd: string,
  layout: PrivateRuntimeLayout,
  path: string,
): Promise<ProcessIdentity> {
  const log = openSync(layout.logFile, 'a', 0o600);
  try {
    const child = await spawned(containerd, () =>
      spawn(containerd, ['--config', layout.configFile], {
        detached: true,
        cwd: '/',
        // The systemd socket belongs to the process that systemd started.
        env: {...process.env, PATH: path, NOTIFY_SOCKET: undefined},
        stdio: ['ignore', log, log],
      }),
    );
    child.unref();
    const identity = identityOf(child.pid ?? 0);
    if (identity === undefined) throw await endedError(layout);
    return identity;
  } finally {
    closeSync(log);
  }
}

async function spawned(program: string, start: () => ChildProcess): Promise<ChildProcess> {
  try {
    const child = start();
    await once(child, 'spawn');
    return child;
  } catch (error) {
    throw programStartError(program, error);
  }
}

/**
 * Waits until the CRI reports that runtime and network are ready. Rejects with SystemError, including the end of
 * containerd's log, if containerd exits or is not ready within 30 seconds.
 */
export async function waitUntilReady(
  {layout, containerd, clock}: {layout: PrivateRuntimeLayout; containerd: ProcessIdentity; clock: Clock},
  signal: AbortSignal,
): Promise<void> {
  const deadline = clock.monotonic() + READY_TIMEOUT_MS;
  for (;;) {
    const problem = await readinessProblem(layout.endpoint, signal);
    if (problem === undefined) return;
    if (!isRunning(containerd)) throw await endedError(layout);
    if (clock.monotonic() >= deadline) {
      throw new SystemError(
        `containerd is not ready after ${READY_TIMEOUT_MS / 1000} s: ${problem}${await tail(layout)}`,
      );
    }
    await clock.sleep(50, signal);
  }
}

/** Returns why pods cannot run at this endpoint now; undefined if they can. */
async function readinessProblem(endpoint: string, signal: AbortSignal): Promise<string | undefined> {
  using connection = connect(endpoint);
  try {
    const {status} = await connection.runtime.status({}, {signal, timeoutMs: 5000});
    const unready = (status?.conditions ?? []).filter((condition) => !condition.status);
    return unready.length === 0
      ? undefined
      : unready.map(({type, message}) => `${type}: ${message}`).join('; ');
  } catch (error) {
    if (!(error instanceof CriError)) throw error;
    return messageOf(error);
  }
}

async function endedError(layout: PrivateRuntimeLayout): Promise<SystemError> {
  return new SystemError(`containerd exited before it was ready${await tail(layout)}`);
}

/** Returns the last lines of containerd's log, for an error message. */
async function tail({logFile}: PrivateRuntimeLayout): Promise<string> {
  const lines = (await readFile(logFile, 'utf8')).trim().split('\n').slice(-LOG_TAIL_LINES);
  return `; its log ends with:${lines.map((line) => `\n  ${line}`).join('')}`;
}
