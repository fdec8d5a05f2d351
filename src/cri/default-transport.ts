import {CANCELLED, rpcFailure, type Transport} from './transport.js';
import {unaryTransport} from './unary/unary-transport.js';

/**
 * A transport over a unix socket whose unary calls go without grpc-js, which is loaded when the first stream is opened.
 * Connects at its first call. Throws ConfigError for a bad endpoint.
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
      // Who opened a stream learns why there is none.
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
