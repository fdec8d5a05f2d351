import {createServer, type Server as NetServer, type Socket} from 'node:net';
import {once} from 'node:events';
import {link, rm} from 'node:fs/promises';
import {
  Server,
  ServerCredentials,
  type ConnectionInjector,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';

/** A gRPC service and the implementation of its methods. */
export interface ServedService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}

/**
 * A gRPC server on a unix socket whose connections can be counted and closed without the GOAWAY of grpc-js, like those
 * of a killed process.
 */
export class SocketServer {
  readonly #path: string;
  readonly #services: readonly ServedService[];
  readonly #bound: string;
  readonly #sockets = new Set<Socket>();
  #grpc: Server | undefined;
  #listener: NetServer | undefined;
  /** Number of connections accepted so far. */
  acceptedConnections = 0;

  /** `bound` is the temporary name of the socket, under which the kernel lists it for ever. */
  constructor(path: string, services: readonly ServedService[], bound = `${path}.bound`) {
    this.#path = path;
    this.#services = services;
    this.#bound = bound;
  }

  get isRunning(): boolean {
    return this.#listener !== undefined;
  }

  /** Number of open connections. */
  get openConnections(): number {
    return this.#sockets.size;
  }

  /** Throws EEXIST if the path exists. */
  async listen(): Promise<void> {
    const grpc = new Server({'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1});
    for (const {definition, implementation} of this.#services) grpc.addService(definition, implementation);
    const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure());
    const listener = createServer((socket) => {
      this.#accept(socket, injector);
    });
    // Node.js unlinks the bound path on close. A hard link keeps the socket file, as after a kill.
    const bound = this.#bound;
    listener.listen(bound);
    await once(listener, 'listening');
    try {
      await link(bound, this.#path);
    } catch (error) {
      listener.close();
      throw error;
    }
    await rm(bound);
    this.#grpc = grpc;
    this.#listener = listener;
  }

  #accept(socket: Socket, injector: ConnectionInjector): void {
    this.acceptedConnections += 1;
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    injector.injectConnection(socket);
  }

  /** Closes every connection and stops listening. The socket file stays. */
  async dropConnections(): Promise<void> {
    const listener = this.#listener;
    if (listener === undefined) return;
    this.#listener = undefined;
    const closed = once(listener, 'close');
    listener.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#grpc?.forceShutdown();
    await closed;
  }

  /** Removes the socket file. */
  async removeSocketFile(): Promise<void> {
    await rm(this.#path, {force: true});
  }
}
