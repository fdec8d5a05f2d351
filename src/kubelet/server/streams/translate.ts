import {Writable} from 'node:stream';
import type {RawData, WebSocket} from 'ws';
import {boundedText} from '../../../streaming/bounded-text.js';
import type {SpdyConnection} from '../../../streaming/spdy/connection.js';
import type {SpdyStream} from '../../../streaming/spdy/stream.js';
import type {StreamQuery} from './stream-query.js';

/** The channels of a WebSocket that carries a session; the last tells that another takes nothing more. */
const CHANNEL = {stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255} as const;
const NORMAL_CLOSURE = 1000;

/**
 * Carries a session between a WebSocket of v5.channel.k8s.io and a runtime that speaks SPDY
 * (apiserver/pkg/util/proxy StreamTranslatorHandler), until the runtime has told the outcome or the client has gone.
 * Whoever reads slowly holds up the other. Never rejects.
 */
export async function translate(
  socket: WebSocket,
  connection: SpdyConnection,
  request: StreamQuery,
): Promise<void> {
  const types = ['error', ...wanted(request)];
  // One that is lost already is told of as one that is lost later.
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
  const pour = async (type: 'stdout' | 'stderr'): Promise<void> => {
    await streams.get(type)?.pour(channelOf(socket, CHANNEL[type]));
  };
  await Promise.all([pour('stdout'), pour('stderr')]);
  const [error] = opened;
  const status = error === undefined ? '' : await boundedText(error);
  channelOf(socket, CHANNEL.error).end(status === '' ? lostStatus(connection) : status);
  socket.close(NORMAL_CLOSURE);
  await closed;
}

/** The streams that the runtime waits for. */
function wanted({stdin, stdout, stderr, tty}: StreamQuery): readonly string[] {
  const asked = {stdin, stdout, stderr: stderr && !tty, resize: tty};
  return Object.entries(asked).flatMap(([type, isAsked]) => (isAsked ? [type] : []));
}

/** A message of the client: on the first byte's channel the rest. What is for no stream is dropped. */
function receive(
  socket: WebSocket,
  streams: ReadonlyMap<string, SpdyStream | undefined>,
  message: RawData,
): void {
  // Never an array or an ArrayBuffer: binaryType is left at nodebuffer.
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

/** What is written goes to a channel. What is sent to a closed connection is lost, as with any. */
function channelOf(socket: WebSocket, channel: number): Writable {
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

/** What a client is told when the runtime has said nothing of the outcome (errors.NewInternalError). */
function lostStatus({failure}: SpdyConnection): string {
  const message = `the connection to the runtime was lost${failure === undefined ? '' : `: ${failure.message}`}`;
  return JSON.stringify({
    metadata: {},
    status: 'Failure',
    message: `Internal error occurred: ${message}`,
    reason: 'InternalError',
    details: {causes: [{message}]},
    code: 500,
  });
}
