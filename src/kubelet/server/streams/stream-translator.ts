import {Writable} from 'node:stream';
import type {RawData, WebSocket} from 'ws';
import {readBoundedText} from '../../../streaming/session/read-bounded-text.js';
import type {SpdyConnection} from '../../../streaming/spdy/spdy-connection.js';
import type {SpdyStream} from '../../../streaming/spdy/spdy-stream.js';
import type {StreamQuery} from './stream-query.js';
import {parseJsonObject} from '../../../base/parse-json-object.js';

/** Channels of a WebSocket session; a message on `close` closes another channel. */
const CHANNEL = {stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255} as const;
const NORMAL_CLOSURE = 1000;

/**
 * Translates a session between a v5.channel.k8s.io WebSocket and a SPDY connection to the runtime, with backpressure,
 * until the runtime reports the exit status or the client disconnects (apiserver/pkg/util/proxy
 * StreamTranslatorHandler). Never rejects.
 */
export async function translateStreams(
  socket: WebSocket,
  connection: SpdyConnection,
  request: StreamQuery,
): Promise<void> {
  const types = ['error', ...streamTypes(request)];
  // Reports a connection that is already lost like one that is lost later.
  const opened = connection.isOpen
    ? connection.openStreams(...types.map((streamtype) => ({streamtype})))
    : [];
  const streams = new Map(types.map((type, index) => [type, opened[index]]));
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      connection.close();
      resolve();
    });
  });
  socket.on('message', (message) => {
    receive(socket, streams, message);
  });
  const forward = async (type: 'stdout' | 'stderr'): Promise<void> => {
    await streams.get(type)?.pipeTo(channelWriter(socket, CHANNEL[type]));
  };
  await Promise.all([forward('stdout'), forward('stderr')]);
  const [error] = opened;
  const status = error === undefined ? '' : await readBoundedText(error);
  channelWriter(socket, CHANNEL.error).end(
    status === '' ? internalError(connectionLostMessage(connection)) : translateStatus(status),
  );
  socket.close(NORMAL_CLOSURE);
  await closed;
}

/** Returns the types of the streams that the runtime expects, without `error`. */
function streamTypes({stdin, stdout, stderr, tty}: StreamQuery): readonly string[] {
  const requested = {stdin, stdout, stderr: stderr && !tty, resize: tty};
  return Object.entries(requested).flatMap(([type, isRequested]) => (isRequested ? [type] : []));
}

/** Forwards a message of the client to the stream of the channel in its first byte. Drops it without such a stream. */
function receive(
  socket: WebSocket,
  streams: ReadonlyMap<string, SpdyStream | undefined>,
  message: RawData,
): void {
  // Always a Buffer, since binaryType is nodebuffer, the default.
  const data = message as Buffer;
  const [channel, other] = data;
  if (channel === CHANNEL.close) {
    if (other === CHANNEL.stdin) streams.get('stdin')?.end();
    return;
  }
  const type = channel === CHANNEL.stdin ? 'stdin' : channel === CHANNEL.resize ? 'resize' : undefined;
  const stream = type === undefined ? undefined : streams.get(type);
  if (stream === undefined || stream.writableEnded || data.length === 1) return;
  if (stream.write(data.subarray(1))) return;
  socket.pause();
  stream.once('drain', () => {
    socket.resume();
  });
}

/** Returns a stream that writes to a channel; data for a closed connection is discarded. */
function channelWriter(socket: WebSocket, channel: number): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      const message = Buffer.allocUnsafe(chunk.length + 1);
      message[0] = channel;
      chunk.copy(message, 1);
      socket.send(message, () => {
        done();
      });
    },
  });
}

function connectionLostMessage({failure}: SpdyConnection): string {
  return `the connection to the runtime was lost${failure === undefined ? '' : `: ${failure.message}`}`;
}

/**
 * Returns the Status for the client of a translated session for that of the runtime, both as JSON. As in a kubelet, the
 * runtime's failures become internal errors of the translation; exit codes and success remain (StreamTranslatorHandler).
 */
export function translateStatus(status: string): string {
  const {status: outcome, reason, message} = parseJsonObject(status);
  const hasRun = outcome === 'Success' || reason === 'NonZeroExitCode';
  return hasRun ? status : internalError(typeof message === 'string' ? message : status);
}

/** Returns the Status of an internal error as JSON (errors.NewInternalError). */
export function internalError(message: string): string {
  return JSON.stringify({
    metadata: {},
    status: 'Failure',
    message: `Internal error occurred: ${message}`,
    reason: 'InternalError',
    details: {causes: [{message}]},
    code: 500,
  });
}
