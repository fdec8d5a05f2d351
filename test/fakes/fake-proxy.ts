import {createServer as createHttpServer, type IncomingMessage} from 'node:http';
import {createServer as createHttpsServer} from 'node:https';
import {connect, createServer, type AddressInfo, type Server, type Socket} from 'node:net';
import type {Duplex} from 'node:stream';

/** Options of a fake proxy. */
export interface FakeProxyOptions {
  readonly protocol: 'http' | 'https' | 'socks5';
  readonly tls?: {readonly cert: string; readonly key: string};
  /** User and password that clients must have, as in `me:secret`. */
  readonly user?: string;
}

/** A proxy that connects clients to any port of this machine. */
export class FakeProxy implements AsyncDisposable {
  readonly #options: FakeProxyOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();
  /** Targets as clients have named them. */
  readonly targets: string[] = [];

  private constructor(options: FakeProxyOptions) {
    this.#options = options;
    if (options.protocol === 'socks5') {
      this.#server = createServer((socket) => {
        this.#serveSocks(socket).catch(() => socket.destroy());
      });
      return;
    }
    this.#server = options.tls === undefined ? createHttpServer() : createHttpsServer(options.tls);
    this.#server.on('connect', (request: IncomingMessage, socket: Duplex) => {
      const expected = `Basic ${Buffer.from(options.user ?? '').toString('base64')}`;
      if (options.user !== undefined && request.headers['proxy-authorization'] !== expected)
        socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      else this.#forward(socket, request.url ?? '', 'HTTP/1.1 200 Connection established\r\n\r\n');
    });
  }

  static async start(options: FakeProxyOptions): Promise<FakeProxy> {
    const proxy = new FakeProxy(options);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** Returns the URL with a user, as in `me:secret`. */
  url(user = this.#options.user): URL {
    const {port} = this.#server.address() as AddressInfo;
    return new URL(`${this.#options.protocol}://${user === undefined ? '' : `${user}@`}127.0.0.1:${port}`);
  }

  async #serveSocks(socket: Socket): Promise<void> {
    const next = bytesOf(socket);
    const [, count] = await next(2);
    const methods = await next(count!);
    const {user} = this.#options;
    if (user !== undefined && !methods.includes(2)) {
      socket.end(Buffer.from([5, 0xff]));
      return;
    }
    socket.write(Buffer.from([5, user === undefined ? 0 : 2]));
    if (user !== undefined) {
      const [, length] = await next(2);
      const name = String(await next(length!));
      const password = String(await next((await next(1))[0]!));
      const isValid = `${name}:${password}` === user;
      socket.write(Buffer.from([1, isValid ? 0 : 1]));
      if (!isValid) return;
    }
    const [, , , type] = await next(4);
    const length = type === 1 ? 4 : type === 4 ? 16 : (await next(1))[0]!;
    const address = await next(length);
    const host = type === 3 ? String(address) : [...address].join(type === 1 ? '.' : ' ');
    const port = (await next(2)).readUInt16BE();
    this.#forward(socket, `${host}:${port}`, Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
  }

  #forward(client: Duplex, target: string, answer: string | Buffer): void {
    this.targets.push(target);
    const server = connect(Number(target.split(':').at(-1)), '127.0.0.1', () => {
      client.write(answer);
      client.pipe(server).pipe(client);
    });
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => client.destroy()).on('close', () => this.#sockets.delete(socket));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Returns a function that resolves with the next bytes of a socket. */
function bytesOf(socket: Socket): (count: number) => Promise<Buffer> {
  return async (count) => {
    for (;;) {
      const bytes = socket.read(count) as Buffer | null;
      if (bytes !== null || count === 0) return bytes ?? Buffer.alloc(0);
      await new Promise((resolve) => socket.once('readable', resolve));
    }
  };
}
