import {spawn, type ChildProcess} from 'node:child_process';
import type {Readable} from 'node:stream';
import {abortable} from '../../../base/async/abortable.js';
import {anySignal} from '../../../base/async/any-signal.js';
import {startTimer} from '../../../base/async/timer.js';
import {hasErrno, messageOf, rethrowUnexpected, SystemError} from '../../../base/errors.js';

/** Time after which mount(8) is ended, in ms: mount.nfs(8) tries for two minutes, and a journal may be long. */
const MOUNT_TIMEOUT_MS = 600_000;
/** Time after which a program that was terminated is killed, and after that no longer waited for, in ms. */
const KILL_AFTER_MS = 5000;
const ABANDON_AFTER_MS = 1000;

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
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject).once('exit', (...exit: Exit) => {
      resolve(exit);
    });
  });
  let output = '';
  // Without free file descriptors there is no stream, only an error.
  const stderr = child.stderr as Readable | undefined;
  stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const late = new AbortController();
  using either = anySignal(signal, late.signal);
  const stopTimer = startTimer(MOUNT_TIMEOUT_MS, () => {
    late.abort();
  });
  const group = new ProcessGroup(child);
  const end = (): void => {
    group.end();
  };
  either.signal.addEventListener('abort', end);
  try {
    const [code, name] = await abortable(exited, group.abandoned);
    // A helper that cannot be killed keeps the pipe open.
    await abortable(group.closed, either.signal).catch(() => undefined);
    if (late.signal.aborted) return {reason: LATE, output};
    if (name !== null) return {reason: `signal: ${SIGNAL_TEXTS[name] ?? name}`, output};
    return {reason: code === 0 ? undefined : `exit status ${code}`, output};
  } catch (cause) {
    rethrowUnexpected(cause);
    return {reason: late.signal.aborted ? LATE : messageOf(cause), output, cause};
  } finally {
    stopTimer();
    either.signal.removeEventListener('abort', end);
  }
}

type Exit = readonly [code: number | null, signal: NodeJS.Signals | null];

const LATE = `no end after ${MOUNT_TIMEOUT_MS / 1000} s`;

/** Texts of Go for the signals that end a program. */
const SIGNAL_TEXTS: Readonly<Partial<Record<NodeJS.Signals, string>>> = {
  SIGTERM: 'terminated',
  SIGKILL: 'killed',
  SIGINT: 'interrupt',
  SIGHUP: 'hangup',
  SIGSEGV: 'segmentation fault',
};

/** A program with its helpers, which have its error output and end with it. */
class ProcessGroup {
  readonly #pid: number | undefined;
  readonly #abandoned = new AbortController();
  #isClosed = false;
  /** Resolves when all have ended; never rejects. */
  readonly closed: Promise<void>;

  constructor(child: ChildProcess) {
    this.#pid = child.pid;
    this.closed = new Promise((resolve) => {
      child.once('close', () => {
        this.#isClosed = true;
        resolve();
      });
    });
  }

  /** Aborts when the group did not end although it was killed: one that waits for a device or a server cannot be. */
  get abandoned(): AbortSignal {
    return this.#abandoned.signal;
  }

  /** Terminates the group; kills what is left of it after a while. */
  end(): void {
    this.#signal('SIGTERM');
    startTimer(KILL_AFTER_MS, () => {
      this.#signal('SIGKILL');
      startTimer(ABANDON_AFTER_MS, () => {
        this.#abandoned.abort(new SystemError('it cannot be killed'));
      });
    });
  }

  /** Sends a signal, unless all have ended. */
  #signal(name: NodeJS.Signals): void {
    if (this.#pid === undefined || this.#isClosed) return;
    try {
      process.kill(-this.#pid, name);
    } catch (error) {
      if (!hasErrno(error, 'ESRCH')) throw error;
    }
  }
}
