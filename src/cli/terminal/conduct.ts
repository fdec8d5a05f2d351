import {setMaxListeners} from 'node:events';
import type {Writable} from 'node:stream';
import {messageOf, SystemError} from '../../base/errors.js';
import type {PourTarget} from '../../streaming/remote-output.js';
import type {RemoteResult, RemoteSession, TerminalSize} from '../../streaming/session.js';
import type {CliContext} from '../context.js';
import type {OutputStream} from '../standard-output.js';
import {DetachFilter} from './detach-keys.js';
import {feedFile} from './file-feed.js';
import {isFile, isTerminal, rawMode, readUntil} from './input.js';

/** Its file descriptor. */
const STDIN = 0;

/** How a session is connected to this process. */
export interface ConductOptions {
  /** The process has a terminal: keys are passed on as they are, and its size follows this one's. */
  readonly tty: boolean;
  /** The keys that leave the session; none = nothing does. Only where there is a terminal. */
  readonly detachKeys: readonly number[];
  /** Where standard output and standard error go. */
  readonly outputs: readonly PourTarget[];
  /** Aborted when nobody reads the output any more. */
  readonly unread: AbortSignal;
  /** Ends the session. */
  readonly signal: AbortSignal;
}

/** How a session ended: as the remote end says, by the detach keys, or because nobody reads its output. */
export type SessionEnd = RemoteResult | {readonly kind: 'detached'} | {readonly kind: 'unread'};

/**
 * Connects this process's streams to a session until it ends, and closes it. The terminal is as it was before when
 * this resolves or rejects: with StreamingError, SystemError, or the signal's reason.
 */
export async function conduct(
  session: RemoteSession,
  terminal: Pick<CliContext, 'stdin' | 'stdout' | 'stderr'>,
  options: ConductOptions,
): Promise<SessionEnd> {
  // Any number of sessions may share them.
  setMaxListeners(0, options.unread, options.signal);
  const over = new AbortController();
  if (options.tty) followSize(session, terminal, over.signal);
  try {
    return await Promise.race([
      verdict(session, options.outputs),
      fed(session.stdin, {...options, stdin: terminal.stdin}, over.signal),
      aborted(options.unread, over.signal).then(() => ({kind: 'unread'}) as const),
      aborted(options.signal, over.signal).then(() => {
        throw options.signal.reason;
      }),
    ]);
  } finally {
    over.abort();
    session.close();
  }
}

/** Resolves when a signal is aborted; does not before the other one is. */
async function aborted(signal: AbortSignal, until: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const act = (): void => {
      resolve();
    };
    signal.addEventListener('abort', act, {once: true, signal: until});
  });
}

/** The remote end's verdict, when all that came before it is written. */
async function verdict(session: RemoteSession, outputs: ConductOptions['outputs']): Promise<RemoteResult> {
  const sources = [session.stdout, session.stderr];
  await Promise.all(outputs.map(async (target, index) => sources[index]?.pour(target)));
  return await session.result;
}

type Feeding = Pick<ConductOptions, 'tty' | 'detachKeys'> & Pick<CliContext, 'stdin'>;

/** Passes standard input on. Resolves only when the detach keys come; rejects when it can't be read. */
async function fed(
  target: Writable | undefined,
  {stdin, tty, detachKeys}: Feeding,
  until: AbortSignal,
): Promise<SessionEnd> {
  return await new Promise<SessionEnd>((resolve, reject) => {
    if (target === undefined) return;
    const fail = (cause: unknown): void => {
      reject(new SystemError(`reading standard input: ${messageOf(cause)}`, {cause}));
    };
    if (isFile(stdin)) {
      feedFile(STDIN, target, until).catch(fail);
      return;
    }
    if (tty && isTerminal(stdin)) rawMode(stdin, until);
    readUntil(stdin, until);
    stdin.once('error', fail);
    const detach = (): void => {
      resolve({kind: 'detached'});
    };
    if (tty && detachKeys.length > 0) stdin.pipe(new DetachFilter(detachKeys, detach)).pipe(target);
    else stdin.pipe(target);
  });
}

/** Tells the process how large its terminal is, now and whenever that changes. */
function followSize(
  session: RemoteSession,
  {stdout, stderr}: Pick<CliContext, 'stdout' | 'stderr'>,
  until: AbortSignal,
): void {
  const tell = (): void => {
    const size = sizeOf(stdout) ?? sizeOf(stderr);
    if (size !== undefined) session.resize(size);
  };
  tell();
  // SIGWINCH.
  stdout.on('resize', tell);
  until.addEventListener('abort', () => void stdout.removeListener('resize', tell));
}

function sizeOf({columns, rows}: OutputStream): TerminalSize | undefined {
  return columns === undefined || rows === undefined ? undefined : {columns, rows};
}
