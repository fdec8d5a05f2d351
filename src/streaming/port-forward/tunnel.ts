import type {Duplex} from 'node:stream';
import type {RemoteOutput} from '../remote-output.js';

/** The pod's end of one forwarded connection. */
export interface FarEnd {
  /** The bytes to and from the pod's port. Each direction ends on its own; it never fails. */
  readonly data: Duplex & RemoteOutput;
  /** Resolves when the runtime is done with the connection: with what went wrong, or undefined. Never rejects. */
  readonly done: Promise<FarFailure | undefined>;
  /** Gives the connection up, also when everything is done; what is still on its way is lost. */
  close(): void;
}

/** What went wrong with a forwarded connection. */
export type FarFailure =
  | {readonly kind: 'refused'; /** The runtime's own words. */ readonly message: string}
  | {readonly kind: 'lost'};

/** A way into a pod, whatever the transport. */
export interface Tunnel {
  /** Connects to a port of the pod. Rejects with KcriError when the runtime can't be reached or won't have it. */
  connect(port: number): Promise<FarEnd>;
  /** Resolves when the runtime has ended a connection that was open. */
  readonly lost: Promise<void>;
  /** Ends every connection at once. */
  close(): void;
}

/** Asks the runtime for a URL to forward ports at. One is good for one streaming connection. */
export type PortForwardUrl = (ports: readonly number[]) => Promise<string>;
