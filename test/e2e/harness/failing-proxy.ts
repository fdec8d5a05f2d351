import {once} from 'node:events';
import {connect, createServer, type Socket} from 'node:net';
import {listenOnLoopback} from '../../base/listen-on-loopback.js';

/**
 * Behavior of a proxy for data from the server: forward all of it, or after so many bytes disconnect or stop
 * forwarding.
 */
export type ProxyMode =
  | {readonly kind: 'open'}
  | {readonly kind: 'cut' | 'stall'; readonly afterBytes: number};

/** A TCP proxy that can fail during a transfer. */
export interface FailingProxy extends AsyncDisposable {
  /** `127.0.0.1:PORT`, in place of the server's own address. */
  readonly host: string;
  /** Sets the behavior; bytes are counted from now on. */
  set(mode: ProxyMode): void;
  /** Reports whether the proxy has failed since the last `set`. */
  readonly hasFailed: () => boolean;
}

/** Starts a proxy in front of `host`, which first forwards everything. */
export async function startFailingProxy(host: string): Promise<FailingProxy> {
  const [address = '', port = ''] = host.split(':');
  const sockets = new Set<Socket>();
  let mode: ProxyMode = {kind: 'open'};
  let passed = 0;
  const failed = (): boolean => mode.kind !== 'open' && passed > mode.afterBytes;
  const server = createServer((client) => {
    const upstream = connect(Number(port), address);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // Either side may disconnect at any time; the other one is then disconnected too.
      socket
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
    }
    client.on('data', (data) => upstream.write(data));
    upstream.on('data', (data) => {
      passed += data.length;
      if (!failed()) client.write(data);
      else if (mode.kind === 'cut') client.destroy();
    });
  });
  const ownPort = await listenOnLoopback(server);
  return {
    host: `127.0.0.1:${ownPort}`,
    set: (next) => {
      mode = next;
      passed = 0;
    },
    hasFailed: failed,
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
