import {connect, createServer, type AddressInfo, type Server, type Socket} from 'node:net';

/** A TCP proxy that can stop forwarding without closing its connections, like a network that drops packets. */
export class StallingProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  /** Number of connections so far. */
  connections = 0;

  private constructor(targetPort: number) {
    this.#server = createServer((client) => {
      this.connections += 1;
      const target = connect(targetPort, '127.0.0.1');
      const pair = [client, target] as const;
      this.#pairs.add(pair);
      client.pipe(target).pipe(client);
      for (const socket of pair)
        socket
          .on('error', () => undefined)
          .on('close', () => {
            for (const end of pair) end.destroy();
            this.#pairs.delete(pair);
          });
    });
  }

  static async start(target: string): Promise<StallingProxy> {
    const proxy = new StallingProxy(Number(new URL(target).port));
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Forwards nothing more on the present connections; new ones are not affected. */
  stall(): void {
    for (const [client, target] of this.#pairs) {
      client.unpipe(target).pause();
      target.unpipe(client).pause();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
