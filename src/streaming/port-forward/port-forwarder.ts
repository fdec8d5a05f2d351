import type {Server, Socket} from 'node:net';
import type {Clock} from '../../base/clock.js';
import {KcriError} from '../../base/errors.js';
import type {AddressGroup} from './addresses.js';
import {forwardConnection, VERDICT_LIMIT_MS} from './forward-connection.js';
import {listen, type BoundPort} from './listen.js';
import {Patience} from './patience.js';
import type {PortSpec} from './port-spec.js';
import type {FarFailure, Tunnel} from './tunnel.js';

/** Why a connection was not forwarded, or not to its end. */
export type ConnectionFailure = FarFailure | {readonly kind: 'unreachable'; readonly error: KcriError};

/** Told of each connection. */
export interface ForwardObserver {
  accepted(ports: PortSpec): void;
  failed(ports: PortSpec, failure: ConnectionFailure): void;
}

/** Takes local connections to a pod's ports; what happens to one does not matter to the others. */
export class PortForwarder {
  readonly #tunnel: Tunnel;
  readonly #patience: Patience;
  readonly #observer: ForwardObserver;
  readonly #sockets = new Set<Socket>();
  readonly #servers: Server[] = [];
  #ended = false;

  constructor(tunnel: Tunnel, clock: Clock, observer: ForwardObserver) {
    this.#tunnel = tunnel;
    this.#patience = new Patience(VERDICT_LIMIT_MS, clock);
    this.#observer = observer;
  }

  /** Listens on a port of each address, as far as possible, and forwards what connects there. */
  async listen(spec: PortSpec, groups: readonly AddressGroup[]): Promise<BoundPort> {
    const bound = await listen(spec, groups, (local, ports) => {
      this.#accept(local, ports);
    });
    for (const {server} of bound.listeners) this.#servers.push(server);
    return bound;
  }

  #accept(local: Socket, ports: PortSpec): void {
    this.#sockets.add(local);
    // Whoever is at the other end may go at any time; that is no error here.
    local.on('error', () => undefined).once('close', () => this.#sockets.delete(local));
    this.#observer.accepted(ports);
    // Rejects only with faults of kcri's own, which may end the process.
    void this.#forward(local, ports);
  }

  /** Listens no more and ends all connections. */
  close(): void {
    this.#ended = true;
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#patience.close();
    this.#tunnel.close();
  }

  async #forward(local: Socket, ports: PortSpec): Promise<void> {
    try {
      const far = await this.#tunnel.connect(ports.remote);
      const failure = await forwardConnection(local, far, this.#patience);
      if (failure !== undefined && !this.#ended) this.#observer.failed(ports, failure);
    } catch (error) {
      local.resetAndDestroy();
      if (!(error instanceof KcriError)) throw error;
      if (!this.#ended) this.#observer.failed(ports, {kind: 'unreachable', error});
    }
  }
}
