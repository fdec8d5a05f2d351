import {once} from 'node:events';
import {createServer, type ServerHttp2Stream} from 'node:http2';
import {createServer as createTcpServer, type AddressInfo, type Server, type Socket} from 'node:net';

/** Behavior of a collector for a connection, or for an OTLP request over gRPC. */
export type CollectorBehavior =
  | {readonly connection: (socket: Socket) => void}
  | {readonly request: (stream: ServerHttp2Stream) => void};

/** Starts an OpenTelemetry collector that misbehaves. */
export async function startHostileCollector(behavior: CollectorBehavior): Promise<HostileCollector> {
  const server = 'connection' in behavior ? createTcpServer(behavior.connection) : createServer();
  if ('request' in behavior) server.on('stream', behavior.request);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return new HostileCollector(server, sockets);
}

/** An OpenTelemetry collector that misbehaves. */
export class HostileCollector implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets: ReadonlySet<Socket>;

  constructor(server: Server, sockets: ReadonlySet<Socket>) {
    this.#server = server;
    this.#sockets = sockets;
  }

  get endpoint(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }
}
