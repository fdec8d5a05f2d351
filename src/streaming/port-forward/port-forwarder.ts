import type {Socket} from 'node:net';
import type {Clock} from '../../base/clock.js';
import {KcriError} from '../../base/errors.js';
import {forwardConnection} from './forward-connection.js';
import type {PortSpec} from './port-spec.js';
import type {FarFailure, Tunnel} from './tunnel.js';

/** Told of each connection. */
export interface ForwardObserver {
  accepted(ports: PortSpec): void;
  failed(
    ports: PortSpec,
    failure: FarFailure | {readonly kind: 'unreachable'; readonly error: KcriError},
  ): void;
}

/** Takes local connections to a pod's ports; what happens to one does not matter to the others. */
export class PortForwarder {
  readonly #tunnel: Tunnel;
  readonly #clock: Clock;
  readonly #observer: ForwardObserver;
  readonly #sockets = new Set<Socket>();
  #ended = false;

  constructor(tunnel: Tunnel, clock: Clock, observer: ForwardObserver) {
    this.#tunnel = tunnel;
    this.#clock = clock;
    this.#observer = observer;
  }

  /** Forwards a connection that was accepted for `ports`. */
  accept(local: Socket, ports: PortSpec): void {
    this.#sockets.add(local);
    // Whoever is at the other end may go at any time; that is no error here.
    local.on('error', () => undefined).once('close', () => this.#sockets.delete(local));
    this.#observer.accepted(ports);
    // Rejects only with faults of kcri's own, which may end the process.
    void this.#forward(local, ports);
  }

  /** Ends all connections. */
  close(): void {
    this.#ended = true;
    for (const socket of this.#sockets) socket.destroy();
    this.#tunnel.close();
  }

  async #forward(local: Socket, ports: PortSpec): Promise<void> {
    try {
      const far = await this.#tunnel.connect(ports.remote);
      const failure = await forwardConnection(local, far, this.#clock);
      if (failure !== undefined && !this.#ended) this.#observer.failed(ports, failure);
    } catch (error) {
      local.resetAndDestroy();
      if (!(error instanceof KcriError)) throw error;
      if (!this.#ended) this.#observer.failed(ports, {kind: 'unreachable', error});
    }
  }
}
