import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {closeSync, openSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import type {Clock} from '../base/clock.js';
import {messageOf, SystemError} from '../base/errors.js';
import {connect, CriError} from '../cri/index.js';
import type {Layout} from './layout.js';
import {identityOf, isRunning, type ProcessIdentity} from './process-identity.js';
import {startError} from './run-program.js';

const READY_TIMEOUT_MS = 30_000;
const LOG_TAIL_LINES = 5;

/**
 * Starts containerd with the layout's configuration, as a process of its own that outlives this one and
 * writes to the layout's log file.
 */
export async function startContainerd(
  containerd: string,
  layout: Layout,
  path: string,
): Promise<ProcessIdentity> {
  const log = openSync(layout.logFile, 'a', 0o600);
  try {
    const child = await spawned(containerd, () =>
      spawn(containerd, ['--config', layout.configFile], {
        detached: true,
        cwd: '/',
        // systemd's socket is for the process that systemd started, not for this one.
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
    throw startError(program, error);
  }
}

/**
 * Waits until the CRI answers and says that runtime and network are ready. Throws SystemError, with the end
 * of containerd's log, when containerd ends or isn't ready after 30 seconds.
 */
export async function waitUntilReady(
  {layout, containerd, clock}: {layout: Layout; containerd: ProcessIdentity; clock: Clock},
  signal: AbortSignal,
): Promise<void> {
  const deadline = clock.now() + READY_TIMEOUT_MS;
  for (;;) {
    const problem = await readinessProblem(layout.endpoint, signal);
    if (problem === undefined) return;
    if (!isRunning(containerd)) throw await endedError(layout);
    if (clock.now() >= deadline) {
      throw new SystemError(
        `containerd isn't ready after ${READY_TIMEOUT_MS / 1000} s: ${problem}${await tail(layout)}`,
      );
    }
    await clock.sleep(50, signal);
  }
}

/** Why pods can't run at this endpoint now; undefined when they can. */
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

async function endedError(layout: Layout): Promise<SystemError> {
  return new SystemError(`containerd ended before it was ready${await tail(layout)}`);
}

/** The last lines of containerd's log, each on a line of its own. */
async function tail({logFile}: Layout): Promise<string> {
  const lines = (await readFile(logFile, 'utf8')).trim().split('\n').slice(-LOG_TAIL_LINES);
  return `; its log ends with:${lines.map((line) => `\n  ${line}`).join('')}`;
}
