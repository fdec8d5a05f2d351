import type {CallOptions} from './call.js';
import {CriError, type CriFailure} from './errors.js';

/** Takes in one message. */
export interface MessageSink {
  /** Takes its next bytes, which are only lent. Never throws: what is wrong with them is told to who asks for it. */
  push(piece: Buffer): void;
}

/** Bytes in, bytes out: what moves one RPC. */
export interface Transport {
  /** Gives the sink that took in the answer; a request that is sent again needs another one. */
  unary<Sink extends MessageSink>(
    path: string,
    request: Buffer,
    sink: () => Sink,
    options: WireCallOptions,
  ): Promise<Sink>;
  stream(path: string, request: Buffer, options: WireCallOptions): AsyncIterable<Buffer>;
  close(): void;
}

/** `timeoutMs` is decided: `Infinity` = none. */
export interface WireCallOptions {
  readonly signal: CallOptions['signal'];
  readonly timeoutMs: number;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** A runtime lists 10,000 containers in 9 MB; the default of 4 MB fails there. */
export const MAX_MESSAGE_BYTES = 128 * 1024 * 1024;
/** The kubelet's minimum connect timeout: a socket that accepts and stays silent is given up after it. */
export const CONNECT_TIMEOUT_MS = 5000;
/** What a timer holds, some 25 days: a longer deadline is none. */
export const LONGEST_DEADLINE_MS = 2 ** 31 - 1;

/** How Go's gRPC begins what it says of a connection that did not come about. */
const CONNECTION_ERROR = 'connection error: desc = ';

/** Go's words for what connect(2) said, since crictl's users and scripts know those. */
export const DIAL_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  ECONNREFUSED: 'connection refused',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  ENOTDIR: 'not a directory',
  EAGAIN: 'resource temporarily unavailable',
};

/** Why there is no connection: `what` is what connect(2) said. */
export function dialDetails(socketPath: string, what: string): string {
  return `${CONNECTION_ERROR}"transport: Error while dialing: dial unix ${socketPath}: connect: ${what}"`;
}

/** Why there is no connection, though somebody listens: the peer doesn't begin as HTTP/2 does. */
export function prefaceDetails(what: string): string {
  return `${CONNECTION_ERROR}"error reading server preface: ${what}"`;
}

export const SILENT_DETAILS = `no gRPC server answered within ${CONNECT_TIMEOUT_MS / 1000}s`;

/** What the calls of a transport end with that is closed. */
export const CANCELLED = {grpcCode: 'CANCELLED', details: 'Cancelled on client'} as const;

/** True for the details of a call that nothing was sent of, because there was no connection. */
export function isConnectionError(details: string): boolean {
  return details.startsWith(CONNECTION_ERROR) || details === SILENT_DETAILS;
}

/** A call's error; its method is the last part of `path`. */
export function rpcFailure(
  endpoint: string,
  path: string,
  failure: Omit<CriFailure, 'endpoint' | 'method'>,
): CriError {
  return new CriError({...failure, endpoint, method: path.slice(path.lastIndexOf('/') + 1)});
}

/** What a call rejects with when its signal is aborted. */
export function abortReason({reason}: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
