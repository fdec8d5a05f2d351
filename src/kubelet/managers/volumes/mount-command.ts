import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {abortable} from '../../../base/async/abortable.js';
import {anySignal} from '../../../base/async/any-signal.js';
import {startTimer} from '../../../base/async/timer.js';
import {hasErrno, messageOf, rethrowUnexpected, SystemError} from '../../../base/errors.js';

/** Time after which mount(8) is ended, in ms: mount.nfs(8) tries for two minutes, and a journal may be long. */
const MOUNT_TIMEOUT_MS = 600_000;

/** Options of {@link runMountCommand}. */
export interface MountCommandOptions {
  /** Returns a hint for an output. */
  readonly toHint: (output: string) => string | undefined;
  /** Ends mount(8) and its helpers, such as mount.nfs(8) that waits for a server. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs mount(8) and rejects with the message of a kubelet, which contains the command and its output (mount-utils), and with the
 * signal's reason.
 */
export async function runMountCommand(
  args: readonly string[],
  {toHint, signal}: MountCommandOptions,
): Promise<void> {
  signal?.throwIfAborted();
  const {reason, output, cause} = await runInGroup(args, signal);
  signal?.throwIfAborted();
  if (reason === undefined) return;
  const lines = [
    `mount failed: ${reason}`,
    'Mounting command: mount',
    `Mounting arguments: ${args.join(' ')}`,
  ];
  throw new SystemError([...lines, `Output: ${output}`, ''].join('\n'), {cause, hint: toHint(output)});
}

/** Result of mount(8); the reason is that of a failure. */
interface MountResult {
  readonly reason: string | undefined;
  readonly output: string;
  readonly cause?: unknown;
}

/** Runs mount(8) in a process group of its own, so that its helpers end with it. */
async function runInGroup(
  args: readonly string[],
  signal = new AbortController().signal,
): Promise<MountResult> {
  const env = {...process.env, LC_ALL: 'C'};
  const child = spawn('mount', args, {env, stdio: ['ignore', 'ignore', 'pipe'], detached: true});
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const closed = once(child, 'close').catch(() => undefined); // the exit is awaited first
  const late = new AbortController();
  using either = anySignal(signal, late.signal);
  const stopTimer = startTimer(MOUNT_TIMEOUT_MS, () => {
    late.abort();
  });
  const end = (): void => {
    endGroup(child.pid);
  };
  either.signal.addEventListener('abort', end);
  try {
    const [code] = (await once(child, 'exit')) as readonly unknown[];
    // A helper that cannot be killed keeps the pipe open.
    await abortable(closed, either.signal).catch(() => undefined);
    if (late.signal.aborted) return {reason: `no end after ${MOUNT_TIMEOUT_MS / 1000} s`, output};
    if (typeof code === 'number') return {reason: code === 0 ? undefined : `exit status ${code}`, output};
    return {reason: 'signal: terminated', output};
  } catch (cause) {
    rethrowUnexpected(cause);
    return {reason: messageOf(cause), output, cause};
  } finally {
    stopTimer();
    either.signal.removeEventListener('abort', end);
  }
}

/** Terminates a process group, if there is one. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch (error) {
    if (!hasErrno(error, 'ESRCH')) throw error;
  }
}
