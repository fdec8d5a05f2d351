import {socketPath} from './endpoint.js';
import {CANCELLED, rpcFailure, type Transport} from './transport.js';
import {unaryTransport} from './unary/unary-transport.js';

/**
 * Returns a transport over the Unix socket at the path; errors name the endpoint. Unary calls use kcri's own HTTP/2 client; the first stream
 * loads grpc-js. Connects on the first call.
 */
export function defaultTransport(endpoint: string, path = socketPath(endpoint)): Transport {
  const calls = unaryTransport(endpoint, {path});
  let streams: Promise<Transport> | undefined;
  return {
    unary: calls.unary,
    async *stream(rpc, request, options) {
      options.signal?.throwIfAborted();
      const loading = (streams ??= loadGrpcTransport(endpoint, path));
      const transport = await loading;
      if (streams !== loading) throw rpcFailure(endpoint, rpc, CANCELLED);
      yield* transport.stream(rpc, request, options);
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

async function loadGrpcTransport(endpoint: string, path: string): Promise<Transport> {
  const {grpcTransport} = await import('./grpc-transport.js');
  return grpcTransport(endpoint, path);
}
