import type {CallOptions} from './call-options.js';
import {CriError, type CriFailure} from './errors.js';

/** Receiver of one message. */
export interface MessageSink {
  /**
   * Takes the next bytes, which are only valid during the call. Never throws: errors are reported when the message is
   * read.
   */
  push(chunk: Buffer): void;
}

/** Sends requests and receives responses as bytes. */
export interface Transport {
  /** Resolves with the sink that received the response. `sink` is called once for each attempt. */
  unary<Sink extends MessageSink>(
    path: string,
    request: Buffer,
    sink: () => Sink,
    options: WireCallOptions,
  ): Promise<Sink>;
  /** Opens a server stream, or with a stream of requests a bidirectional one, and yields the messages of the response. */
  stream(
    path: string,
    request: Buffer | AsyncIterable<Buffer>,
    options: WireCallOptions,
  ): AsyncIterable<Buffer>;
  close(): void;
}

/** Options of a call on the wire; `timeoutMs` is final, `Infinity` for none. */
export interface WireCallOptions {
  readonly signal: CallOptions['signal'];
  readonly timeoutMs: number;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** Maximum size of a message. gRPC's default of 4 MiB is too small: a list of 10,000 containers has 9 MB. */
export const MAX_MESSAGE_BYTES = 128 * 1024 * 1024;
/**
 * Connect timeout in milliseconds, the kubelet's minimum: the time for a server to send its first frame after accepting
 * a connection.
 */
export const CONNECT_TIMEOUT_MS = 5000;
/** Longest delay of a timer, about 25 days; a longer deadline counts as none. */
export const MAX_DEADLINE_MS = 2 ** 31 - 1;

/** Prefix of Go gRPC's texts for a connection that could not be established. */
const CONNECTION_ERROR = 'connection error: desc = ';

/** Go's texts for the errors of connect(2), which crictl's users and scripts expect. */
export const DIAL_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  ECONNREFUSED: 'connection refused',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  ENOTDIR: 'not a directory',
  EINVAL: 'invalid argument',
  EAGAIN: 'resource temporarily unavailable',
};

/** Returns the details of a failed connect(2), where `reason` is its error. */
export function dialDetails(socketPath: string, reason: string): string {
  return `${CONNECTION_ERROR}"transport: Error while dialing: dial unix ${socketPath}: connect: ${reason}"`;
}

/** Returns the details of a connection that was accepted by a peer that does not speak HTTP/2. */
export function prefaceDetails(reason: string): string {
  return `${CONNECTION_ERROR}"error reading server preface: ${reason}"`;
}

/** Details of a call whose server accepted the connection but did not answer. */
export const SILENT_DETAILS = `no gRPC server answered within ${CONNECT_TIMEOUT_MS / 1000}s`;

/** Error of calls on a closed transport. */
export const CANCELLED = {grpcCode: 'CANCELLED', details: 'Cancelled on client'} as const;

/** Reports whether `details` mean that there was no connection, so that nothing was sent. */
export function isConnectionError(details: string): boolean {
  return details.startsWith(CONNECTION_ERROR) || details === SILENT_DETAILS;
}

/** Returns the error of a call, whose method is the last segment of `path`. */
export function rpcFailure(
  endpoint: string,
  path: string,
  failure: Omit<CriFailure, 'endpoint' | 'method'>,
): CriError {
  return new CriError({...failure, endpoint, method: path.slice(path.lastIndexOf('/') + 1)});
}

/**
 * Returns the error as that of a connection to a socket that failed with this reason. Of a socket on another node, only
 * a check on that node knows it.
 */
export function withDialFailure(error: CriError, socketPath: string, reason: string): CriError {
  const {method, endpoint} = error;
  const details = dialDetails(socketPath, reason);
  return new CriError({
    method,
    endpoint,
    grpcCode: 'UNAVAILABLE',
    details,
    neverConnected: true,
    cause: error,
  });
}

/** Returns the error with which a call rejects when its signal is aborted. */
export function abortReason({reason}: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
