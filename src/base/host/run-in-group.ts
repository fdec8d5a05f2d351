import {spawn, type ChildProcess} from 'node:child_process';
import type {Socket} from 'node:net';
import {onAbort} from '../async/abort-callbacks.js';
import {abortable} from '../async/abortable.js';
import {anySignal} from '../async/any-signal.js';
import {startTimer} from '../async/timer.js';
import {hasErrno, isExpectedError, SystemError} from '../errors.js';
import {systemErrorMessage} from '../system-error-message.js';

/** Time after which a program that was terminated is killed, and after that no longer waited for, in ms. */
const KILL_AFTER_MS = 5000;
const ABANDON_AFTER_MS = 1000;
/** Time to wait for the output of helpers that outlive their program, in ms. */
const HELPERS_MS = 5000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** Options of {@link runInGroup}. */
export interface GroupOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Time after which the program is ended, in ms. */
  readonly timeoutMs: number;
  /** Ends the program and its helpers. */
  readonly signal?: AbortSignal | undefined;
  /** True to read its standard output, before its error output; false by default. */
  readonly readsOutput?: boolean;
}

/** Result of a program. */
export interface GroupResult {
  /** Reason of a failure, in the words of Go, such as `exit status 32`; undefined after a success. */
  readonly reason: string | undefined;
  readonly output: string;
  /** True if it was ended because of its time or its output; false by default. */
  readonly isExceeded?: boolean;
  /** Error of Node.js, whose properties have the arguments; undefined if the program was started. */
  readonly cause?: unknown;
}

/**
 * Runs a program in a process group of its own, so that its helpers end with it, and without input. It is terminated, and killed
 * after five seconds, when its time is over, when the signal aborts, or when it writes more than a mebibyte. One that cannot be
 * killed, since it waits for a device or a server, is left alone. Resolves also then; throws programming errors.
 */
export async function runInGroup(
  program: string,
  args: readonly string[],
  options: GroupOptions,
): Promise<GroupResult> {
  const stdio = ['ignore', options.readsOutput === true ? 'pipe' : 'ignore', 'pipe'] as const;
  try {
    const child = spawn(program, args, {env: {...options.env}, stdio: [...stdio], detached: true});
    return await awaitGroup(child, options);
  } catch (cause) {
    if (!isExpectedError(cause)) throw cause;
    return {reason: systemErrorMessage(cause), output: '', cause}; // too many arguments, for example
  }
}

async function awaitGroup(
  child: ChildProcess,
  {timeoutMs, signal = new AbortController().signal}: GroupOptions,
): Promise<GroupResult> {
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject).once('exit', (...exit: Exit) => {
      resolve(exit);
    });
  });
  const exceeded = new AbortController();
  using either = anySignal(signal, exceeded.signal);
  const stopTimer = startTimer(timeoutMs, () => {
    exceeded.abort(`no end after ${timeoutMs / 1000} s`);
  });
  const output = new BoundedOutput(child, () => {
    exceeded.abort(`it wrote more than ${MAX_OUTPUT_BYTES} bytes`);
  });
  const group = new ProcessGroup(child);
  const forget = onAbort(either.signal, () => {
    group.end();
  });
  try {
    const [code, name] = await abortable(exited, group.abandoned);
    // A helper that cannot be killed, or that serves a file system, keeps the pipes open.
    await abortable(group.closedWithin(HELPERS_MS), either.signal).catch(() => undefined);
    return {reason: reasonOf(code, name), output: output.text(), ...exceedance(exceeded.signal)};
  } catch (cause) {
    if (!isExpectedError(cause)) throw cause;
    return {reason: systemErrorMessage(cause), output: output.text(), cause, ...exceedance(exceeded.signal)};
  } finally {
    stopTimer();
    forget();
    output.release();
  }
}

/** Returns why a program was ended, as a part of its result; nothing if it was not. */
function exceedance({aborted, reason}: AbortSignal): Pick<GroupResult, 'isExceeded'> & {reason?: string} {
  return aborted ? {reason: String(reason), isExceeded: true} : {};
}

type Exit = readonly [code: number | null, signal: NodeJS.Signals | null];

/** Texts of Go for the signals that end a program. */
const SIGNAL_TEXTS: Readonly<Partial<Record<NodeJS.Signals, string>>> = {
  SIGTERM: 'terminated',
  SIGKILL: 'killed',
  SIGINT: 'interrupt',
  SIGHUP: 'hangup',
  SIGSEGV: 'segmentation fault',
};

function reasonOf(...[code, name]: Exit): string | undefined {
  if (name !== null) return `signal: ${SIGNAL_TEXTS[name] ?? name}`;
  return code === 0 ? undefined : `exit status ${code}`;
}

/** Output of a program, up to a limit. */
class BoundedOutput {
  readonly #streams: readonly Socket[];
  readonly #chunks: readonly Buffer[][];
  #size = 0;

  constructor({stdout, stderr}: ChildProcess, onExceeded: () => void) {
    // Without free file descriptors there are no streams, only an error.
    this.#streams = [stdout, stderr].flatMap((stream) => (stream as Socket | null | undefined) ?? []);
    this.#chunks = this.#streams.map((stream) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => {
        this.#size += chunk.length;
        if (this.#size <= MAX_OUTPUT_BYTES) chunks.push(chunk);
        else onExceeded();
      });
      return chunks;
    });
  }

  text(): string {
    return this.#chunks.map((chunks) => Buffer.concat(chunks).toString()).join('');
  }

  /** Lets this process end while a helper has the streams, which are still read so that the helper can write. */
  release(): void {
    for (const stream of this.#streams) stream.unref();
  }
}

/** A program with its helpers, which have its output and end with it. */
class ProcessGroup {
  readonly #pid: number | undefined;
  readonly #abandoned = new AbortController();
  #isClosed = false;
  /** Resolves when all have ended; never rejects. */
  readonly #closed: Promise<void>;

  constructor(child: ChildProcess) {
    this.#pid = child.pid;
    this.#closed = new Promise((resolve) => {
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

  /** Resolves when all have ended, or after a time in ms. */
  async closedWithin(ms: number): Promise<void> {
    let stopTimer = (): void => undefined;
    const late = new Promise<void>((resolve) => {
      stopTimer = startTimer(ms, resolve);
    });
    await Promise.race([this.#closed, late]);
    stopTimer();
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
