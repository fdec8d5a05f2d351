import {CallbackAbortController} from '../../base/async/abort-callbacks.js';
import type {Clock} from '../../base/clock.js';
import {parseStreamingAddress} from '../session/streaming-address.js';
import {readBoundedText} from '../session/read-bounded-text.js';
import {StreamingError} from '../session/errors.js';
import {InputGate} from '../session/input-gate.js';
import {resultAfterOutput, whenRead} from '../session/probed-result.js';
import type {RemoteResult, RemoteSession, SessionOptions, SessionRequest} from '../session/session.js';
import {parseSessionStatus} from '../session/session-status.js';
import type {SpdyConnection} from './spdy-connection.js';
import {dialSpdy} from './dial-spdy.js';
import type {SpdyStream} from './spdy-stream.js';

/** Protocol versions to offer: the first with exit codes, which all servers of the last ten years support. */
const PROTOCOLS = ['v4.channel.k8s.io'];

/** Capacity of a pipe in bytes; a process with less input cannot exit with its stdin full. */
const PIPE_CAPACITY = 64 * 1024;
const CHECK_INTERVAL_MS = 1000;
/** Time without progress after which a session counts as stuck while input is unsent, in ms. */
const STUCK_TIMEOUT_MS = 2000;
/** Timeout in ms if the system has taken all input, so that it is unknown whether it is being read. */
const SENT_TIMEOUT_MS = 10_000;

/**
 * Opens an exec or attach session over SPDY at the runtime's URL. Rejects with UpgradeRefusedError if the server does
 * not support SPDY, with StreamingError if it is unreachable, or with the signal's reason.
 */
export async function openSpdySession(
  url: string,
  request: SessionRequest,
  options: SessionOptions,
): Promise<RemoteSession> {
  const {connection} = await dialSpdy(parseStreamingAddress(url), PROTOCOLS, options);
  return startSession(connection, request, options);
}

/** Opens the streams of a session. The server waits for exactly these. */
function startSession(
  connection: SpdyConnection,
  request: SessionRequest,
  {clock, probe}: SessionOptions,
): RemoteSession {
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
  const ended = new CallbackAbortController();
  const outputs = [stdout, stderr];
  const results = [
    readResult(connection, streams.get('error')),
    detectStuckSession({stdin, outputs, clock, tty: request.tty}, ended.signal),
  ];
  if (stdin !== undefined && probe !== undefined) {
    stdin.gate = new InputGate(() => probe.find(ended.signal));
    results.push(resultAfterOutput({probe, clock, stdin, outputs}, ended.signal));
  }
  const result = Promise.race(results).finally(() => {
    ended.abort();
  });
  // A closed session may be rejected although its result is not awaited.
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

async function readResult(connection: SpdyConnection, stream: SpdyStream | undefined): Promise<RemoteResult> {
  const status = stream === undefined ? '' : await readBoundedText(stream);
  if (status !== '') return parseSessionStatus(status);
  const cause = connection.failure;
  throw new StreamingError(
    `the connection to the streaming server was lost before the result of the command${cause === undefined ? '' : `: ${cause.message}`}`,
    {cause, hint: 'the command may still be running in the container'},
  );
}

interface SessionStreams {
  readonly stdin: SpdyStream | undefined;
  readonly outputs: readonly (SpdyStream | undefined)[];
  readonly clock: Clock;
  readonly tty: boolean;
}

/**
 * Rejects if the process has probably exited without a result: containerd waits forever for the rest of the input if a
 * process exits with its stdin full. Rejects with the signal's reason too.
 */
async function detectStuckSession(
  {stdin, outputs, clock, tty}: SessionStreams,
  signal: AbortSignal,
): Promise<never> {
  for (const output of outputs) await whenRead(output);
  let quietMs = 0;
  for (;;) {
    const [before, limit] = [stdin?.bytesSent, tty ? Infinity : stuckTimeoutMs(stdin)];
    await clock.sleep(CHECK_INTERVAL_MS, signal);
    const isQuiet = before === stdin?.bytesSent && limit === stuckTimeoutMs(stdin);
    quietMs = isQuiet ? quietMs + CHECK_INTERVAL_MS : 0;
    if (quietMs >= limit)
      throw new StreamingError('the output has ended, but the runtime returned no result of the command', {
        hint: 'the runtime may be waiting for the rest of the input; make the command read all of it, as in "…; cat >/dev/null"',
      });
  }
}

/**
 * Returns the time without progress after which a session counts as stuck, in ms; infinite while more input is
 * expected.
 */
function stuckTimeoutMs(stdin: SpdyStream | undefined): number {
  if (stdin === undefined || stdin.bytesSent <= PIPE_CAPACITY) return Infinity;
  if (stdin.writableFinished) return SENT_TIMEOUT_MS;
  return stdin.writableLength > 0 || stdin.writableEnded ? STUCK_TIMEOUT_MS : Infinity;
}
