import type {Server, Socket} from 'node:net';
import type {Clock} from '../../base/clock.js';
import {KcriError} from '../../base/errors.js';
import type {AddressGroup} from './listen-addresses.js';
import {forwardConnection, RESULT_TIMEOUT_MS} from './forward-connection.js';
import {listen, type BoundPort} from './listen.js';
import {SharedDeadline} from './shared-deadline.js';
import type {PortSpec} from './port-spec.js';
import type {RemoteFailure, Tunnel} from './tunnel.js';

/** Reason why a connection was not forwarded completely. */
export type ForwardFailure = RemoteFailure | {readonly kind: 'unreachable'; readonly error: KcriError};

/** Observer of forwarded connections. */
export interface ForwardObserver {
  accepted(ports: PortSpec): void;
  failed(ports: PortSpec, failure: ForwardFailure): void;
}

/** Forwards local connections to a pod's ports. A failed connection does not affect the others. */
export class PortForwarder {
  readonly #tunnel: Tunnel;
  readonly #deadline: SharedDeadline;
  readonly #observer: ForwardObserver;
  readonly #sockets = new Set<Socket>();
  readonly #servers: Server[] = [];
  #ended = false;

  constructor(tunnel: Tunnel, clock: Clock, observer: ForwardObserver) {
    this.#tunnel = tunnel;
    this.#deadline = new SharedDeadline(RESULT_TIMEOUT_MS, clock);
    this.#observer = observer;
  }

  /** Listens on a port of each address, as far as possible, and forwards its connections. */
  async listen(spec: PortSpec, groups: readonly AddressGroup[]): Promise<BoundPort> {
    const bound = await listen(spec, groups, (local, ports) => {
      this.#accept(local, ports);
    });
    for (const {server} of bound.listeners) this.#servers.push(server);
    return bound;
  }

  #accept(local: Socket, ports: PortSpec): void {
    this.#sockets.add(local);
    // The client may close the connection at any time without an error.
    local.on('error', () => undefined).once('close', () => this.#sockets.delete(local));
    this.#observer.accepted(ports);
    // Rejects only with programming errors, which may terminate the process.
    void this.#forward(local, ports);
  }

  /** Stops listening and closes all connections. */
  close(): void {
    this.#ended = true;
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#deadline.close();
    this.#tunnel.close();
  }

  async #forward(local: Socket, ports: PortSpec): Promise<void> {
    try {
      const remote = await this.#tunnel.connect(ports.remote);
      const failure = await forwardConnection(local, remote, this.#deadline);
      if (failure !== undefined && !this.#ended) this.#observer.failed(ports, failure);
    } catch (error) {
      local.resetAndDestroy();
      if (!(error instanceof KcriError)) throw error;
      if (!this.#ended) this.#observer.failed(ports, {kind: 'unreachable', error});
    }
  }
}
