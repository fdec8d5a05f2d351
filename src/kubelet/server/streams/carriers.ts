import {dialSpdy} from '../../../streaming/spdy/dial.js';
import type {KubeletRequest, UpgradedAnswer} from '../answer.js';
import type {ServerOptions} from '../options.js';
import {acceptWebSocket} from './accept-websocket.js';
import {backendAddress, backendDial, openBackend} from './backend.js';
import {join} from './join.js';
import type {StreamQuery} from './stream-query.js';
import {translate} from './translate.js';

export type CarrierOptions = Pick<ServerOptions, 'clock' | 'streamingIdleTimeoutMs'>;

/** Carries a session between the client that asks for it and the runtime's streaming server at the URL. */
export type Carrier = (
  url: string,
  request: KubeletRequest,
  options: CarrierOptions,
) => Promise<UpgradedAnswer>;

/** From this version on clients of WebSockets can tell where their input ends; runtimes don't speak it. */
export const V5_CHANNELS = 'v5.channel.k8s.io';
const V4_CHANNELS = 'v4.channel.k8s.io';
/** SPDY's bytes in a WebSocket's messages. */
export const TUNNEL = 'SPDY/3.1+portforward.k8s.io';
const PORT_FORWARD = 'portforward.k8s.io';

/** Client and runtime speak for themselves (proxy.UpgradeAwareHandler). */
export const passOn: Carrier = async (
  url,
  {method, raw, signal},
  {clock, streamingIdleTimeoutMs: idleMs},
) => {
  const backend = await openBackend(url, {method, headers: raw.headers}, {clock, signal});
  return {
    kind: 'upgraded',
    take: async (socket, head) => {
      socket.write(switching(backend.rawHeaders));
      socket.write(backend.head);
      backend.socket.write(head);
      await join(socket, backend.socket, {transport: socket, idleMs, clock, signal});
    },
  };
};

/** The client speaks WebSocket in v5, the runtime SPDY (proxy.NewStreamTranslatorHandler). */
export function translateV5(streams: StreamQuery): Carrier {
  return async (url, {raw, signal}, {clock, streamingIdleTimeoutMs}) => {
    const dial = backendDial({clock, signal});
    const {connection} = await dialSpdy(backendAddress(url), [V4_CHANNELS], dial);
    return {
      kind: 'upgraded',
      take: async (socket, head) => {
        const cut = (): void => {
          connection.close();
          socket.destroy();
        };
        signal.addEventListener('abort', cut, {once: true});
        if (signal.aborted) cut();
        const client = await acceptWebSocket(raw, {socket, head}, V5_CHANNELS);
        socket.once('timeout', cut).setTimeout(streamingIdleTimeoutMs);
        if (client === undefined) connection.close();
        else await translate(client, connection, streams);
        signal.removeEventListener('abort', cut);
      },
    };
  };
}

/** The client speaks SPDY inside of a WebSocket (proxy.NewTunnelingHandler). */
export const tunnel: Carrier = async (url, {raw, signal}, {clock, streamingIdleTimeoutMs: idleMs}) => {
  const headers = {upgrade: 'SPDY/3.1', 'x-stream-protocol-version': PORT_FORWARD};
  const backend = await openBackend(url, {method: 'POST', headers}, {clock, signal});
  return {
    kind: 'upgraded',
    take: async (socket, head) => {
      const {createWebSocketStream} = await import('ws');
      const client = await acceptWebSocket(raw, {socket, head}, TUNNEL);
      if (client === undefined) {
        backend.socket.destroy();
        return;
      }
      const stream = createWebSocketStream(client);
      stream.write(backend.head);
      await join(stream, backend.socket, {transport: socket, idleMs, clock, signal});
    },
  };
};

/** The runtime's own 101, as it came. */
function switching(rawHeaders: readonly string[]): string {
  const lines = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1] ?? ''}\r\n`] : [],
  );
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`;
}
