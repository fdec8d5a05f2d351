import {
  Client,
  connectivityState,
  credentials,
  Metadata,
  type CallOptions as GrpcCallOptions,
  type ServiceError,
} from '@grpc/grpc-js';
import {systemClock} from '../base/clock.js';
import {grpcCodeOf} from './errors.js';
import {socketPath} from './endpoint.js';
import {
  abortReason,
  CONNECT_TIMEOUT_MS,
  DIAL_ERRORS,
  dialDetails,
  isConnectionError,
  LONGEST_DEADLINE_MS,
  MAX_MESSAGE_BYTES,
  prefaceDetails,
  rpcFailure,
  SILENT_DETAILS,
  type MessageSink,
  type Transport,
  type WireCallOptions,
} from './transport.js';

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

/** grpc-js over a unix socket; connects at its first call. Throws ConfigError for a bad endpoint. */
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

  async unary<Sink extends MessageSink>(
    path: string,
    request: Buffer,
    sink: () => Sink,
    options: WireCallOptions,
  ): Promise<Sink> {
    const answer = sink();
    answer.push(await this.#unary(path, request, options));
    return answer;
  }

  async #unary(path: string, request: Buffer, options: WireCallOptions): Promise<Buffer> {
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
    if (signal?.aborted === true) return abortReason(signal);
    const cause = error;
    if (guard.timedOut)
      return rpcFailure(this.#endpoint, path, {
        grpcCode: 'UNAVAILABLE',
        details: SILENT_DETAILS,
        neverConnected: true,
        cause,
      });
    const details = detailsOf(error, this.#target);
    return rpcFailure(this.#endpoint, path, {
      grpcCode: grpcCodeOf(error?.code ?? 2),
      details,
      neverConnected: isConnectionError(details),
      cause,
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

function detailsOf(error: ServiceError | null, target: string): string {
  const details = error?.details ?? 'no answer';
  // grpc-js knows no reason when the server hangs up before it has said anything.
  if (details.startsWith('No connection established. Last error: Failed to connect'))
    return prefaceDetails('EOF');
  const failed = Object.entries(DIAL_ERRORS).find(([errno]) => details.includes(`connect ${errno}`));
  return failed === undefined ? details : dialDetails(target.slice('unix:'.length), failed[1]);
}
