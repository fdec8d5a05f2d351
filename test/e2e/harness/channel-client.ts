import {once} from 'node:events';
import {WebSocket} from 'ws';

/** Who a client is. */
export interface ClientCredentials {
  readonly certificate: string;
  readonly key: string;
}

/** A WebSocket that carries channels, as clients of a kubelet have it. */
export interface ChannelClient {
  readonly protocol: string;
  readonly socket: WebSocket;
  send(channel: number, data: string | Buffer): void;
  /** Tells that nothing more comes on a channel, in the words of v5. */
  end(channel: number): void;
  /** All that has come on a channel. */
  readonly bytes: (channel: number) => Buffer;
  readonly text: (channel: number) => string;
  /** Resolves with the code of the end. */
  readonly closed: Promise<number>;
}

/** Opens one. Rejects when the server doesn't agree. */
export async function openChannelClient(
  url: string,
  protocol: string,
  client?: ClientCredentials,
): Promise<ChannelClient> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), [protocol], {
    rejectUnauthorized: false,
    ...(client !== undefined && {cert: client.certificate, key: client.key}),
  });
  const pieces = new Map<number, Buffer[]>();
  socket.on('message', (data: Buffer) => {
    const [channel = -1] = data;
    pieces.set(channel, [...(pieces.get(channel) ?? []), data.subarray(1)]);
  });
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  await once(socket, 'open');
  const bytes = (channel: number): Buffer => Buffer.concat(pieces.get(channel) ?? []);
  return {
    protocol: socket.protocol,
    socket,
    closed,
    bytes,
    text: (channel) => bytes(channel).toString(),
    send: (channel, data) => {
      socket.send(Buffer.concat([Buffer.of(channel), Buffer.from(data)]));
    },
    end: (channel) => {
      socket.send(Buffer.of(255, channel));
    },
  };
}
