import {onAbort} from '../../../base/async/abort-callbacks.js';
import {createBackendDialOptions, resolveBackendAddress} from '../../../streaming/session/local-backend.js';
import {dialSpdy} from '../../../streaming/spdy/dial-spdy.js';
import type {KubeletRequest, UpgradedResponse} from '../kubelet-response.js';
import type {ServerOptions} from '../http-server-options.js';
import {acceptWebSocket} from '../../../http-server/accept-websocket.js';
import {openBackend} from './streaming-backend.js';
import {pipeDuplex} from './pipe-duplex.js';
import type {StreamQuery} from './stream-query.js';
import {translateStreams} from './stream-translator.js';

export type StreamProxyOptions = Pick<ServerOptions, 'clock' | 'streamingIdleTimeoutMs'>;

/** Connects to the runtime's streaming server at the URL and returns the upgrade that proxies the client's session. */
export type StreamProxy = (
  url: string,
  request: KubeletRequest,
  options: StreamProxyOptions,
) => Promise<UpgradedResponse>;

/** First WebSocket subprotocol in which clients can close stdin; runtimes do not support it. */
export const V5_CHANNEL_PROTOCOL = 'v5.channel.k8s.io';
const V4_CHANNELS = 'v4.channel.k8s.io';
/** Subprotocol that tunnels SPDY in WebSocket messages. */
export const TUNNEL_PROTOCOL = 'SPDY/3.1+portforward.k8s.io';
const PORT_FORWARD = 'portforward.k8s.io';

/** Proxies the bytes unchanged: client and runtime negotiate the protocol (proxy.UpgradeAwareHandler). */
export const upgradeAwareProxy: StreamProxy = async (
  url,
  {method, raw, signal},
  {clock, streamingIdleTimeoutMs: idleMs},
) => {
  const backend = await openBackend(url, {method, headers: raw.headers}, {clock, signal});
  return {
    kind: 'upgraded',
    serve: async (socket, head) => {
      socket.write(formatSwitchingProtocols(backend.rawHeaders));
      socket.write(backend.head);
      backend.socket.write(head);
      await pipeDuplex(socket, backend.socket, {transport: socket, idleMs, clock, signal});
    },
  };
};

/** Translates v5 WebSocket of the client to SPDY of the runtime (proxy.NewStreamTranslatorHandler). */
export function createTranslatingProxy(streams: StreamQuery): StreamProxy {
  return async (url, {raw, signal}, {clock, streamingIdleTimeoutMs}) => {
    const dial = createBackendDialOptions({clock, signal});
    const {connection} = await dialSpdy(resolveBackendAddress(url), [V4_CHANNELS], dial);
    return {
      kind: 'upgraded',
      serve: async (socket, head) => {
        const destroyBoth = (): void => {
          connection.close();
          socket.destroy();
        };
        const forget = onAbort(signal, destroyBoth);
        if (signal.aborted) destroyBoth();
        const client = await acceptWebSocket(raw, {socket, head}, V5_CHANNEL_PROTOCOL);
        socket.once('timeout', destroyBoth).setTimeout(streamingIdleTimeoutMs);
        if (client === undefined) connection.close();
        else await translateStreams(client, connection, streams);
        forget();
      },
    };
  };
}

/** Unwraps SPDY that the client tunnels through a WebSocket (proxy.NewTunnelingHandler). */
export const tunnelingProxy: StreamProxy = async (
  url,
  {raw, signal},
  {clock, streamingIdleTimeoutMs: idleMs},
) => {
  const headers = {upgrade: 'SPDY/3.1', 'x-stream-protocol-version': PORT_FORWARD};
  const backend = await openBackend(url, {method: 'POST', headers}, {clock, signal});
  return {
    kind: 'upgraded',
    serve: async (socket, head) => {
      const {createWebSocketStream} = await import('ws');
      const client = await acceptWebSocket(raw, {socket, head}, TUNNEL_PROTOCOL);
      if (client === undefined) {
        backend.socket.destroy();
        return;
      }
      const stream = createWebSocketStream(client);
      stream.write(backend.head);
      await pipeDuplex(stream, backend.socket, {transport: socket, idleMs, clock, signal});
    },
  };
};

/** Formats the 101 response with the runtime's headers. */
function formatSwitchingProtocols(rawHeaders: readonly string[]): string {
  const lines = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1] ?? ''}\r\n`] : [],
  );
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`;
}
