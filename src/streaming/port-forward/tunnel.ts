import type {Duplex} from 'node:stream';
import type {RemoteOutput} from '../session/remote-output.js';

/** Pod's end of a forwarded connection. */
export interface RemoteEnd {
  /** Bytes to and from the pod's port. The directions end independently. Never emits an error. */
  readonly data: Duplex & RemoteOutput;
  /** Resolves when the runtime has finished the connection, with the failure or undefined. Never rejects. */
  readonly done: Promise<RemoteFailure | undefined>;
  /** Closes the connection; data in transit is lost. */
  close(): void;
}

/** Failure of a forwarded connection. */
export type RemoteFailure =
  | {readonly kind: 'refused'; /** The runtime's own words. */ readonly message: string}
  | {readonly kind: 'lost'};

/** Tunnel to a pod over any transport. */
export interface Tunnel {
  /** Connects to a port of the pod. Rejects with KcriError if the runtime is unreachable or refuses. */
  connect(port: number): Promise<RemoteEnd>;
  /** Resolves when the runtime has closed an open connection. */
  readonly lost: Promise<void>;
  /** Closes all connections. */
  close(): void;
}

/** Function that requests a URL for port forwarding from the runtime. It is valid for one streaming connection. */
export type PortForwardUrl = (ports: readonly number[]) => Promise<string>;
