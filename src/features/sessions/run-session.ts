import {fstatSync} from 'node:fs';
import type {Writable} from 'node:stream';
import {CallbackAbortController, onAbort} from '../../base/async/abort-callbacks.js';
import {messageOf, SystemError} from '../../base/errors.js';
import type {OutputTarget} from '../../streaming/session/remote-output.js';
import type {RemoteResult, RemoteSession, TerminalSize} from '../../streaming/session/session.js';
import type {CliContext} from '../../cli/process/context.js';
import type {InputStream} from '../../cli/process/standard-input.js';
import type {OutputStream} from '../../cli/process/standard-output.js';
import {DetachFilter} from './detach-filter.js';
import {createDirectReads, pipeFile} from '../../cli/terminal/pipe-file.js';
import type {RawMode} from '../../cli/terminal/raw-mode.js';
import {forwardStream, isTerminalInput, stopReadingOnAbort} from '../../cli/terminal/terminal-input.js';

/** File descriptor of standard input. */
const STDIN = 0;

/** Options of runSession. */
export interface RunSessionOptions {
  /** True if the process has a terminal. It receives keys unchanged, and its size follows the local terminal. */
  readonly tty: boolean;
  /** Keys that leave the session; empty to disable detaching. They apply only with a terminal. */
  readonly detachKeys: readonly number[];
  /** Targets of standard output and standard error. */
  readonly outputs: readonly OutputTarget[];
  /** Signal that is aborted when the reader of the output closes it. */
  readonly outputClosed: AbortSignal;
  /** Signal that ends the session. */
  readonly signal: AbortSignal;
  /** Called with the reason if the local terminal changes the output of the remote one. */
  readonly onOutputChanged?: ((reason: string) => void) | undefined;
}

/** Result of a session: the remote result, a detach, or output without a reader. */
export type SessionEnd = RemoteResult | {readonly kind: 'detached'} | {readonly kind: 'unread'};

/**
 * Connects this process's streams to a session until it ends, then closes it and restores the terminal. Rejects with
 * StreamingError, SystemError, or the signal's reason.
 */
export async function runSession(
  session: RemoteSession,
  terminal: Pick<CliContext, 'stdin' | 'openStdin' | 'stdout' | 'stderr'>,
  options: RunSessionOptions,
): Promise<SessionEnd> {
  const ended = new CallbackAbortController();
  if (options.tty) followSize(session, terminal, ended.signal);
  const stdin = session.stdin && (await inputOf(terminal, options));
  const rawMode = options.tty && stdin !== undefined ? await enterRawMode(stdin) : undefined;
  try {
    return await Promise.race([
      remoteResult(session, options, rawMode),
      forwardInput(session.stdin, stdin, {...options, until: ended.signal}),
      whenAborted(options.outputClosed, ended.signal).then(() => ({kind: 'unread'}) as const),
      whenAborted(options.signal, ended.signal).then(() => {
        throw options.signal.reason;
      }),
    ]);
  } finally {
    ended.abort();
    session.close();
    await rawMode?.leave();
  }
}

/** Returns standard input; of a session without a terminal, opened in the cheapest way. */
async function inputOf(
  terminal: Pick<CliContext, 'stdin' | 'openStdin'>,
  {tty}: RunSessionOptions,
): Promise<InputStream> {
  const {openStdin} = terminal;
  return tty || openStdin === undefined ? terminal.stdin : await openStdin();
}

/** Switches the local terminal, the input of a remote one, to raw mode. */
async function enterRawMode(stdin: InputStream): Promise<RawMode | undefined> {
  if (!isTerminalInput(stdin)) return undefined;
  const {RawMode} = await import('../../cli/terminal/raw-mode.js');
  return new RawMode(stdin);
}

/** Resolves when a signal is aborted, unless `until` is aborted first. */
async function whenAborted(signal: AbortSignal, until: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const forget = onAbort(signal, resolve);
    onAbort(until, forget);
  });
}

/** Resolves with the remote result after all output is written. */
async function remoteResult(
  session: RemoteSession,
  {outputs, onOutputChanged}: RunSessionOptions,
  rawMode: RawMode | undefined,
): Promise<RemoteResult> {
  const reason = await rawMode?.outputIsRaw;
  if (reason !== undefined) onOutputChanged?.(reason);
  const sources = [session.stdout, session.stderr];
  await Promise.all(outputs.map(async (target, index) => sources[index]?.pipeTo(target)));
  return await session.result;
}

type InputOptions = Pick<RunSessionOptions, 'tty' | 'detachKeys'> & {readonly until: AbortSignal};

/**
 * Forwards standard input. Resolves only when the detach keys are typed; rejects with SystemError if the input cannot
 * be read.
 */
async function forwardInput(
  target: Writable | undefined,
  stdin: InputStream | undefined,
  {tty, detachKeys, until}: InputOptions,
): Promise<SessionEnd> {
  return await new Promise<SessionEnd>((resolve, reject) => {
    if (target === undefined || stdin === undefined) return;
    const fail = (cause: unknown): void => {
      reject(new SystemError(`reading standard input: ${messageOf(cause)}`, {cause}));
    };
    if (stdin.isFile === true) {
      pipeFile(STDIN, target, {until, isDirect: createDirectReads(fstatSync(STDIN))}).catch(fail);
      return;
    }
    stopReadingOnAbort(stdin, until);
    stdin.once('error', fail);
    const detach = (): void => {
      resolve({kind: 'detached'});
    };
    if (tty && detachKeys.length > 0) stdin.pipe(new DetachFilter(detachKeys, detach)).pipe(target);
    else forwardStream(stdin, target, until);
  });
}

/** Sends the terminal size to the process, now and on every change. */
function followSize(
  session: RemoteSession,
  {stdout, stderr}: Pick<CliContext, 'stdout' | 'stderr'>,
  until: AbortSignal,
): void {
  const sendSize = (): void => {
    const size = sizeOf(stdout) ?? sizeOf(stderr);
    if (size !== undefined) session.resize(size);
  };
  sendSize();
  // Node.js emits this event on SIGWINCH.
  stdout.on('resize', sendSize);
  onAbort(until, () => void stdout.removeListener('resize', sendSize));
}

function sizeOf({columns, rows}: OutputStream): TerminalSize | undefined {
  return columns === undefined || rows === undefined ? undefined : {columns, rows};
}
