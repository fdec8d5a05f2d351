import type {Writable} from 'node:stream';
import type {Clock} from '../base/clock.js';
import type {RemoteOutput} from './remote-output.js';

/** Which of a process's streams a session carries. A terminal has no stderr of its own. */
export interface SessionRequest {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** A terminal's size in characters. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** What the remote end said of the process: its exit code (128 + n for signal n), or why there is none. */
export type RemoteResult =
  {readonly kind: 'exited'; readonly exitCode: number} | {readonly kind: 'failed'; readonly message: string};

/**
 * An open exec or attach session, whatever the transport. The streams pass on back-pressure both ways, and end
 * rather than fail when the connection is lost: only `result` tells of that.
 */
export interface RemoteSession {
  /** Ending it tells the process that there is no more input, where the protocol can (`halfClosesStdin`). */
  readonly stdin: Writable | undefined;
  readonly stdout: RemoteOutput | undefined;
  readonly stderr: RemoteOutput | undefined;
  readonly halfClosesStdin: boolean;
  /** Tells the process its terminal's size; does nothing without one. */
  resize(size: TerminalSize): void;
  /** The remote end's verdict; rejects with StreamingError when the connection ends before it. */
  readonly result: Promise<RemoteResult>;
  /** Ends the connection at once; the process is not told. */
  close(): void;
}

/** How a TLS streaming server is checked; paths of PEM files. */
export interface TlsOptions {
  /** The name that its certificate must be for; the URL's host by default. */
  readonly serverName?: string | undefined;
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Take any certificate. */
  readonly insecure?: boolean | undefined;
}

/** How a streaming server is reached. */
export interface DialOptions {
  /** Ends the dialling; an open session is ended by its `close`. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly tls: TlsOptions;
  /** Where proxies are named (HTTP_PROXY, HTTPS_PROXY, NO_PROXY). */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Which protocol the session is carried by; `auto` is SPDY, then WebSocket where the server takes no SPDY. */
export type Transport = 'auto' | 'spdy' | 'websocket';
