import {once} from 'node:events';
import {connect, createServer, type Socket} from 'node:net';
import {listenOnLoopback} from '../../base/listen-on-loopback.js';

/** What a proxy does to what comes from behind it: pass all on, or after so many bytes hang up, or pass nothing more on. */
export type ProxyMode =
  {readonly kind: 'open'} | {readonly kind: 'cut' | 'stall'; readonly afterBytes: number};

/** A way to a server that can fail in the middle. */
export interface FailingProxy extends AsyncDisposable {
  /** `127.0.0.1:PORT`, instead of the server's own. */
  readonly host: string;
  /** Counts from now on. */
  set(mode: ProxyMode): void;
  /** Whether it has failed since. */
  readonly hasFailed: () => boolean;
}

/** Starts a proxy in front of `host`, open at first. */
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
      // Either end may hang up at any time; the other one is then hung up too.
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
