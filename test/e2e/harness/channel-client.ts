import {once} from 'node:events';
import {WebSocket} from 'ws';

/** Client certificate and its key, in PEM. */
export interface ClientCredentials {
  readonly certificate: string;
  readonly key: string;
}

/** A WebSocket with the channels of a kubelet's streaming protocols. */
export interface ChannelClient {
  readonly protocol: string;
  readonly socket: WebSocket;
  send(channel: number, data: string | Buffer): void;
  /** Closes a channel with the message of v5. */
  end(channel: number): void;
  /** Returns all data received on a channel. */
  readonly bytes: (channel: number) => Buffer;
  readonly text: (channel: number) => string;
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
}

/** Opens a WebSocket with channels. Rejects if the server refuses. */
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
