import type {Clock} from '../../base/clock.js';
import {streamingAddress} from '../address.js';
import {boundedText} from '../bounded-text.js';
import {StreamingError} from '../errors.js';
import type {DialOptions, RemoteResult, RemoteSession, SessionRequest} from '../session.js';
import {remoteResult} from '../status.js';
import type {SpdyConnection} from './connection.js';
import {dialSpdy} from './dial.js';
import type {SpdyStream} from './stream.js';

/** The first version that tells exit codes; every server of the last ten years has it. */
const PROTOCOLS = ['v4.channel.k8s.io'];

/** What a pipe holds: with less input than this a process can't leave one full behind. */
const PIPE_CAPACITY = 64 * 1024;
const LOOK_EVERY_MS = 1000;
/** How long a write may stand still, when nobody is left who could be answered. */
const STUCK_AFTER_MS = 2000;
/** The same when the system has taken all of the input, so that it can't be seen whether it is read. */
const UNTOLD_AFTER_MS = 10_000;

/**
 * Opens an exec or attach session over SPDY at the URL that the runtime gave. Rejects with UpgradeRefusedError when
 * the server takes no SPDY, with StreamingError when it can't be reached, or with the signal's reason.
 */
export async function openSpdySession(
  url: string,
  request: SessionRequest,
  options: DialOptions,
): Promise<RemoteSession> {
  const {connection} = await dialSpdy(streamingAddress(url), PROTOCOLS, options);
  return startSession(connection, request, options.clock);
}

/** The streams of a session. The server waits for exactly these. */
function startSession(connection: SpdyConnection, request: SessionRequest, clock: Clock): RemoteSession {
  const types = [
    'error',
    ...(request.stdin ? ['stdin'] : []),
    ...(request.stdout ? ['stdout'] : []),
    ...(request.stderr && !request.tty ? ['stderr'] : []),
    ...(request.tty ? ['resize'] : []),
  ];
  const opened = connection.openStreams(...types.map((streamtype) => ({streamtype})));
  const streams = new Map(types.map((type, index) => [type, opened[index]]));
  const [stdin, stdout, stderr] = ['stdin', 'stdout', 'stderr'].map((type) => streams.get(type));
  const ended = new AbortController();
  const result = Promise.race([
    verdict(connection, streams.get('error')),
    stuck({stdin, outputs: [stdout, stderr], clock, tty: request.tty}, ended.signal),
  ]).finally(() => {
    ended.abort();
  });
  // Whoever waits for the result is told; whoever has closed the session wants to know no more.
  result.catch(() => undefined);
  return {
    stdin,
    stdout,
    stderr,
    halfClosesStdin: true,
    resize: ({columns, rows}) => void streams.get('resize')?.write(`{"Width":${columns},"Height":${rows}}`),
    result,
    close: () => {
      connection.close();
    },
  };
}

async function verdict(connection: SpdyConnection, stream: SpdyStream | undefined): Promise<RemoteResult> {
  const status = stream === undefined ? '' : await boundedText(stream);
  if (status !== '') return remoteResult(status);
  const cause = connection.failure;
  throw new StreamingError(
    `the connection to the streaming server was lost before it said how the command ended${cause === undefined ? '' : `: ${cause.message}`}`,
    {cause, hint: 'the command may still be running in the container'},
  );
}

interface Watched {
  readonly stdin: SpdyStream | undefined;
  readonly outputs: readonly (SpdyStream | undefined)[];
  readonly clock: Clock;
  readonly tty: boolean;
}

/**
 * Rejects when the process seems to be over and its end is never told: containerd waits for ever for the rest of
 * the input to be taken when a process ends with its stdin full. Ends with the signal.
 */
async function stuck({stdin, outputs, clock, tty}: Watched, signal: AbortSignal): Promise<never> {
  for (const output of outputs) await untilRead(output);
  let quietMs = 0;
  for (;;) {
    const [before, limit] = [stdin?.bytesSent, tty ? Infinity : patienceWith(stdin)];
    await clock.sleep(LOOK_EVERY_MS, signal);
    const isQuiet = before === stdin?.bytesSent && limit === patienceWith(stdin);
    quietMs = isQuiet ? quietMs + LOOK_EVERY_MS : 0;
    if (quietMs >= limit)
      throw new StreamingError('the output has ended, but the runtime does not say how the command did', {
        hint: 'it may wait for the rest of the input to be read; let the command read all of it, as in "…; cat >/dev/null"',
      });
  }
}

/** How long nothing may move; without end while the next move is the input's producer's. */
function patienceWith(stdin: SpdyStream | undefined): number {
  if (stdin === undefined || stdin.bytesSent <= PIPE_CAPACITY) return Infinity;
  if (stdin.writableFinished) return UNTOLD_AFTER_MS;
  return stdin.writableLength > 0 || stdin.writableEnded ? STUCK_AFTER_MS : Infinity;
}

/** Resolves when all of an output is read. */
async function untilRead(stream: SpdyStream | undefined): Promise<void> {
  if (stream === undefined || stream.readableEnded || stream.destroyed) return;
  await new Promise<void>((resolve) => {
    stream.once('end', resolve).once('close', resolve);
  });
}
