import {socketPath} from '../endpoint.js';
import {Http2Connection} from '../http2/http2-connection.js';
import {
  CONNECT_TIMEOUT_MS,
  MAX_MESSAGE_BYTES,
  rpcFailure,
  type MessageSink,
  type Transport,
  type WireCallOptions,
} from '../transport.js';
import {checkMetadata} from './request-headers.js';
import {UnaryCall} from './unary-call.js';

/** A transport for unary calls. */
export type UnaryTransport = Pick<Transport, 'unary' | 'close'>;

/** Options for tests, and the path of the socket if the endpoint does not name it. */
export interface UnaryTransportOptions {
  readonly path?: string;
  readonly connectTimeoutMs?: number;
  readonly firstStreamId?: number;
}

/**
 * Returns a transport for unary calls over kcri's own HTTP/2 client, which starts and calls several times faster than
 * grpc-js. All calls share one connection, opened by the first call and again after it was lost. Throws ConfigError
 * for an invalid endpoint.
 */
export function unaryTransport(endpoint: string, options: UnaryTransportOptions = {}): UnaryTransport {
  const {connectTimeoutMs = CONNECT_TIMEOUT_MS, firstStreamId, path = socketPath(endpoint)} = options;
  /** The last connection takes new calls; older ones only wait for outstanding responses. */
  const connections: Http2Connection[] = [];

  const open = (): Http2Connection => {
    const newest = connections.at(-1);
    if (newest?.isOpen === true) return newest;
    const connection = new Http2Connection({
      path,
      connectTimeoutMs,
      firstStreamId,
      onEnd: () => {
        connections.splice(connections.indexOf(connection), 1);
      },
    });
    connections.push(connection);
    return connection;
  };

  return {
    unary: async <Sink extends MessageSink>(
      rpc: string,
      message: Buffer,
      sink: () => Sink,
      call: WireCallOptions,
    ) => {
      call.signal?.throwIfAborted();
      checkMetadata(call.metadata);
      if (message.length > MAX_MESSAGE_BYTES)
        throw rpcFailure(endpoint, rpc, {
          grpcCode: 'RESOURCE_EXHAUSTED',
          details: `Attempted to send message with a size larger than ${MAX_MESSAGE_BYTES}`,
        });
      return await new Promise<Sink>((resolve, reject) => {
        const request = {endpoint, socketPath: path, path: rpc, message, sink, options: call};
        new UnaryCall<Sink>(request, open, {resolve, reject});
      });
    },
    close: () => {
      for (const connection of [...connections]) connection.close();
    },
  };
}
