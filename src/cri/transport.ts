import {
  Client,
  connectivityState,
  credentials,
  Metadata,
  type CallOptions as GrpcCallOptions,
  type ServiceError,
} from '@grpc/grpc-js';
import {systemClock} from '../base/clock.js';
import type {CallOptions} from './call.js';
import {CriError, grpcCodeOf} from './errors.js';
import {socketPath} from './endpoint.js';

/** Bytes in, bytes out: what moves one RPC. The only place that knows grpc-js. */
export interface Transport {
  unary(path: string, request: Buffer, options: WireCallOptions): Promise<Buffer>;
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
const MAX_MESSAGE_BYTES = 128 * 1024 * 1024;
/** The kubelet's minimum connect timeout: a socket that accepts and stays silent is given up after it. */
const CONNECT_TIMEOUT_MS = 5000;
/** What a timer holds, some 25 days: grpc-js keeps no longer deadline, and throws at what gRPC can't write. */
const LONGEST_DEADLINE_MS = 2 ** 31 - 1;

const CHANNEL_OPTIONS = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  'grpc.default_authority': 'localhost',
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 3000,
  // A new connection must not inherit how long an older one in this process wanted to wait.
  'grpc.use_local_subchannel_pool': 1,
};

const identity = (bytes: Buffer): Buffer => bytes;

/** A transport over a unix socket; connects at its first call. Throws ConfigError for a bad endpoint. */
export function grpcTransport(endpoint: string): Transport {
  return new GrpcTransport(endpoint, socketPath(endpoint));
}

class GrpcTransport implements Transport {
  readonly #endpoint: string;
  readonly #target: string;
  #client: Client | undefined;
  #connected = false;
  /** How to cancel each call that runs: grpc-js lets them go on when its client is closed. */
  readonly #running = new Set<() => void>();

  constructor(endpoint: string, path: string) {
    this.#endpoint = endpoint;
    this.#target = `unix:${path}`;
  }

  #open(): Client {
    this.#client ??= new Client(this.#target, credentials.createInsecure(), CHANNEL_OPTIONS);
    return this.#client;
  }

  async unary(path: string, request: Buffer, options: WireCallOptions): Promise<Buffer> {
    options.signal?.throwIfAborted();
    const client = this.#open();
    return await new Promise((resolve, reject) => {
      const settled = new AbortController();
      const call = client.makeUnaryRequest(
        path,
        identity,
        identity,
        request,
        metadataOf(options),
        callOptions(options),
        (error, response) => {
          settled.abort();
          this.#running.delete(cancel);
          options.signal?.removeEventListener('abort', cancel);
          if (error === null && response !== undefined) {
            this.#connected = true;
            resolve(response);
          } else reject(this.#failure(path, error, guard, options.signal));
        },
      );
      const cancel = (): void => {
        call.cancel();
      };
      this.#running.add(cancel);
      const guard = this.#guardConnect(client, cancel, settled.signal);
      options.signal?.addEventListener('abort', cancel, {once: true});
    });
  }

  async *stream(path: string, request: Buffer, options: WireCallOptions): AsyncGenerator<Buffer> {
    options.signal?.throwIfAborted();
    const client = this.#open();
    const call = client.makeServerStreamRequest(
      path,
      identity,
      identity,
      request,
      metadataOf(options),
      callOptions(options),
    );
    const cancel = (): void => {
      call.cancel();
    };
    this.#running.add(cancel);
    const settled = new AbortController();
    const guard = this.#guardConnect(client, cancel, settled.signal);
    call.on('metadata', () => {
      settled.abort();
    });
    options.signal?.addEventListener('abort', cancel, {once: true});
    try {
      for await (const message of call as AsyncIterable<Buffer>) yield message;
    } catch (error) {
      throw this.#failure(path, error as ServiceError, guard, options.signal);
    } finally {
      settled.abort();
      this.#running.delete(cancel);
      options.signal?.removeEventListener('abort', cancel);
      // grpc-js keeps a call that nobody reads (grpc-node#2184).
      cancel();
    }
  }

  /** Cancels a first call when no HTTP/2 server has answered the connection in time. */
  #guardConnect(client: Client, cancel: () => void, settled: AbortSignal): ConnectGuard {
    const guard = {timedOut: false};
    if (this.#connected) return guard;
    systemClock.sleep(CONNECT_TIMEOUT_MS, settled).then(
      () => {
        if (client.getChannel().getConnectivityState(false) === connectivityState.READY) return;
        guard.timedOut = true;
        cancel();
      },
      () => undefined, // the call ended first
    );
    return guard;
  }

  #failure(
    path: string,
    error: ServiceError | null,
    guard: ConnectGuard,
    signal: AbortSignal | undefined,
  ): Error {
    if (signal?.aborted === true) return asError(signal.reason);
    const method = path.slice(path.lastIndexOf('/') + 1);
    const failure = {method, endpoint: this.#endpoint, cause: error};
    if (guard.timedOut)
      return new CriError({
        ...failure,
        grpcCode: 'UNAVAILABLE',
        details: `no gRPC server answered within ${CONNECT_TIMEOUT_MS / 1000}s`,
        neverConnected: true,
      });
    const details = detailsOf(error, this.#target);
    return new CriError({
      ...failure,
      grpcCode: grpcCodeOf(error?.code ?? 2),
      details,
      neverConnected: details.startsWith(CONNECTION_ERROR),
    });
  }

  close(): void {
    for (const cancel of this.#running) cancel();
    this.#client?.close();
    this.#client = undefined;
    this.#connected = false;
  }
}

interface ConnectGuard {
  readonly timedOut: boolean;
}

function callOptions({timeoutMs}: WireCallOptions): GrpcCallOptions {
  return timeoutMs > LONGEST_DEADLINE_MS ? {} : {deadline: systemClock.now() + timeoutMs};
}

function metadataOf({metadata = {}}: WireCallOptions): Metadata {
  const result = new Metadata();
  for (const [key, value] of Object.entries(metadata)) result.set(key, value);
  return result;
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

/** How Go's gRPC begins what it says of a connection that did not come about. */
const CONNECTION_ERROR = 'connection error: desc = ';

/** Go's words for what connect(2) said, since crictl's users and scripts know those. */
const DIAL_ERRORS = {
  ENOENT: 'no such file or directory',
  ECONNREFUSED: 'connection refused',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  ENOTDIR: 'not a directory',
} as const;

function detailsOf(error: ServiceError | null, target: string): string {
  const details = error?.details ?? 'no answer';
  // grpc-js knows no reason when the server hangs up before it has said anything.
  if (details.startsWith('No connection established. Last error: Failed to connect'))
    return `${CONNECTION_ERROR}"error reading server preface: EOF"`;
  const path = target.slice('unix:'.length);
  const failed = Object.entries(DIAL_ERRORS).find(([errno]) => details.includes(`connect ${errno}`));
  return failed === undefined
    ? details
    : `${CONNECTION_ERROR}"transport: Error while dialing: dial unix ${path}: connect: ${failed[1]}"`;
}
