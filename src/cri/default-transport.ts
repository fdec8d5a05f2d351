import {CANCELLED, rpcFailure, type Transport} from './transport.js';
import {unaryTransport} from './unary/unary-transport.js';

/**
 * Returns a transport over a Unix socket. Unary calls use kcri's own HTTP/2 client; the first stream loads grpc-js.
 * Connects on the first call. Throws ConfigError for an invalid endpoint.
 */
export function defaultTransport(endpoint: string): Transport {
  const calls = unaryTransport(endpoint);
  let streams: Promise<Transport> | undefined;
  return {
    unary: calls.unary,
    async *stream(path, request, options) {
      options.signal?.throwIfAborted();
      const loading = (streams ??= loadGrpcTransport(endpoint));
      const transport = await loading;
      if (streams !== loading) throw rpcFailure(endpoint, path, CANCELLED);
      yield* transport.stream(path, request, options);
    },
    close: () => {
      calls.close();
      // A loading failure is reported to the caller that opened the stream.
      void streams?.then(
        (transport) => {
          transport.close();
        },
        () => undefined,
      );
      streams = undefined;
    },
  };
}

async function loadGrpcTransport(endpoint: string): Promise<Transport> {
  const {grpcTransport} = await import('./grpc-transport.js');
  return grpcTransport(endpoint);
}
