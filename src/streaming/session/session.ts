import type {Writable} from 'node:stream';
import type {Clock} from '../../base/clock.js';
import type {RemoteOutput} from './remote-output.js';

/** Streams of the process that a session transfers. A terminal has no separate stderr. */
export interface SessionRequest {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** Size of a terminal in characters. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** Result of the process: its exit code (128 + n for signal n), or the reason why there is none. */
export type RemoteResult =
  | {readonly kind: 'exited'; readonly exitCode: number}
  | {readonly kind: 'failed'; readonly message: string};

/**
 * Open exec or attach session over any transport. Its streams apply backpressure in both directions, and end without an
 * error when the connection is lost; only `result` reports the loss.
 */
export interface RemoteSession {
  /** Input of the process. Ending it signals end of input if the protocol supports it (`halfClosesStdin`). */
  readonly stdin: Writable | undefined;
  readonly stdout: RemoteOutput | undefined;
  readonly stderr: RemoteOutput | undefined;
  readonly halfClosesStdin: boolean;
  /** Sends the size of the terminal; has no effect without a terminal. */
  resize(size: TerminalSize): void;
  /** Result of the process. Rejects with StreamingError if the connection ends before it. */
  readonly result: Promise<RemoteResult>;
  /** Closes the connection; the process is not notified. */
  close(): void;
}

/**
 * Asks the runtime about the process of a session: containerd returns no result if a process exits before it has read
 * its input.
 */
export interface ProcessProbe {
  /** Looks for the process, which is being started. Resolves when it was found, or cannot be found. */
  find(signal: AbortSignal): Promise<void>;
  /** Returns the exit code of the process, or undefined while it runs or if it was not found. */
  exitCode(signal: AbortSignal): Promise<number | undefined>;
}

/** TLS options for a streaming server, with paths of PEM files. */
export interface TlsOptions {
  /** Expected name in the server's certificate; by default the host of the URL. */
  readonly serverName?: string | undefined;
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** True to accept any certificate. */
  readonly insecure?: boolean | undefined;
}

/** Options for connecting to a streaming server. */
export interface DialOptions {
  /** Signal that aborts connecting; an open session is closed by its `close`. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly tls: TlsOptions;
  /** Environment with the proxy variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns the local socket that leads to an address in a remote node's network; undefined to connect directly. */
  readonly forward?: ((address: ForwardedAddress) => Promise<string | undefined>) | undefined;
}

/** Options of an exec or attach session. */
export interface SessionOptions extends DialOptions {
  /** Finds the exit code if the process may exit with unread input; undefined if the runtime cannot be asked. */
  readonly probe?: ProcessProbe | undefined;
}

/** Address of a streaming server in the network of its node. */
export interface ForwardedAddress {
  readonly host: string;
  readonly port: number;
}

/** Transport of a session; `auto` is SPDY, or WebSocket if the server does not support SPDY. */
export type Transport = 'auto' | 'spdy' | 'websocket';
