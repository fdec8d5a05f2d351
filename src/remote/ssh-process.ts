import {spawn, type ChildProcessByStdio} from 'node:child_process';
import type {Readable, Writable} from 'node:stream';
import {hasErrno} from '../base/errors.js';
import {systemErrorMessage} from '../base/system-error-message.js';
import {RemoteError} from './remote-error.js';

/** Environment and placement of an ssh process. */
export interface SshProcessOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True to protect it from Ctrl-C on the terminal, which it then cannot use. */
  readonly detached: boolean;
  /** Called with each line of standard error. */
  readonly onMessage?: ((line: string) => void) | undefined;
}

/** Number of lines of standard error that are kept. */
const KEPT_LINES = 20;
/** Messages of ssh that do not explain a failure. */
const NOISE = /^(Warning: |\*\* |debug\d: |Connection to .* closed\.$|\s*$)/;
/** A running ssh with the end of its standard error. */
export class SshProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves when the process has ended; rejects with RemoteError if it could not be started. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #lines: string[] = [];
  #partial = '';

  constructor(args: readonly string[], {env, detached, onMessage}: SshProcessOptions) {
    const child = spawn('ssh', args, {env: {...env}, detached, stdio: ['pipe', 'pipe', 'pipe']});
    this.#child = child;
    this.stdin = child.stdin;
    this.stdout = child.stdout;
    // The end of the process tells what happened.
    this.stdin.on('error', () => undefined);
    this.stdout.on('error', () => undefined);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#collect(text, onMessage);
    });
    this.ended = new Promise((resolve, reject) => {
      child.once('error', (error) => {
        reject(startError(error));
      });
      child.once('close', () => {
        resolve();
      });
    });
    // Not everyone waits for the end.
    this.ended.catch(() => undefined);
  }

  /** Exit code; null while it runs and after a signal. */
  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  /** Returns the last line of standard error that explains a failure; undefined without one. */
  reason(): string | undefined {
    return this.#lines.findLast((line) => !NOISE.test(line));
  }

  kill(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): void {
    this.#child.kill(signal);
  }

  #collect(text: string, onMessage: SshProcessOptions['onMessage']): void {
    const lines = (this.#partial + text).split(/\r?\n/);
    this.#partial = (lines.pop() ?? '').slice(0, 4096);
    for (const line of lines.map(printable)) {
      onMessage?.(line);
      this.#lines.push(line);
      if (this.#lines.length > KEPT_LINES) this.#lines.shift();
    }
  }
}

function startError(cause: Error): RemoteError {
  return hasErrno(cause, 'ENOENT')
    ? new RemoteError('the program "ssh" is not installed', {
        cause,
        hint: 'install an OpenSSH client, such as the package openssh-client',
      })
    : new RemoteError(`cannot run "ssh": ${systemErrorMessage(cause)}`, {cause});
}

/** Replaces control characters: a server chooses its texts, which must not control a terminal. */
export function printable(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').trim();
}
