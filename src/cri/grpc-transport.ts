import {
  Client,
  connectivityState,
  credentials,
  Metadata,
  type CallOptions as GrpcCallOptions,
  type ClientDuplexStream,
  type ClientReadableStream,
  type ServiceError,
} from '@grpc/grpc-js';
import {onAbort} from '../base/async/abort-callbacks.js';
import {startStallTolerantTimer} from '../base/async/timer.js';
import {systemClock} from '../base/clock.js';
import {socketPath} from './endpoint.js';
import {grpcCodeOf} from './errors.js';
import {
  abortReason,
  CONNECT_TIMEOUT_MS,
  DIAL_ERRORS,
  dialDetails,
  isConnectionError,
  MAX_DEADLINE_MS,
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
  // A new connection must not inherit the reconnect back-off of an older one in this process.
  'grpc.use_local_subchannel_pool': 1,
};

const identity = (bytes: Buffer): Buffer => bytes;

/**
 * Returns a transport with grpc-js over the Unix socket at the path; errors name the endpoint. Connects on the first
 * call.
 */
export function grpcTransport(endpoint: string, path = socketPath(endpoint)): Transport {
  return new GrpcTransport(endpoint, path);
}

class GrpcTransport implements Transport {
  readonly #endpoint: string;
  readonly #target: string;
  #client: Client | undefined;
  #connected = false;
  /** Cancel functions of the running calls: closing a grpc-js client does not end them. */
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
    const response = sink();
    response.push(await this.#unary(path, request, options));
    return response;
  }

  async #unary(path: string, request: Buffer, options: WireCallOptions): Promise<Buffer> {
    options.signal?.throwIfAborted();
    const client = this.#open();
    return await new Promise((resolve, reject) => {
      const call = client.makeUnaryRequest(
        path,
        identity,
        identity,
        request,
        metadataOf(options),
        callOptions(options),
        (error, response) => {
          guard.cancelTimer();
          this.#running.delete(cancel);
          forget?.();
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
      const guard = this.#guardConnect(client, cancel);
      const forget = options.signal && onAbort(options.signal, cancel);
    });
  }

  async *stream(
    path: string,
    request: Buffer | AsyncIterable<Buffer>,
    options: WireCallOptions,
  ): AsyncGenerator<Buffer> {
    options.signal?.throwIfAborted();
    const client = this.#open();
    const sending: Sending = {isOver: false, failure: undefined};
    const call = startStream(client, {path, request, options}, sending);
    const cancel = (): void => {
      call.cancel();
    };
    this.#running.add(cancel);
    const guard = this.#guardConnect(client, cancel);
    call.on('metadata', guard.cancelTimer);
    // The loop reports errors; grpc-js may emit the one of the cancellation after it.
    call.on('error', () => undefined);
    const forget = options.signal && onAbort(options.signal, cancel);
    try {
      for await (const message of call as AsyncIterable<Buffer>) yield message;
    } catch (error) {
      if (options.signal?.aborted !== true && sending.failure !== undefined) throw sending.failure;
      throw this.#failure(path, error as ServiceError, guard, options.signal);
    } finally {
      sending.isOver = true;
      guard.cancelTimer();
      this.#running.delete(cancel);
      forget?.();
      // grpc-js leaks a stream that is not read to its end (grpc-node#2184).
      cancel();
    }
  }

  /** Cancels the first call if no HTTP/2 server has answered before the connect timeout. */
  #guardConnect(client: Client, cancel: () => void): ConnectGuard {
    const guard: ConnectGuard = {timedOut: false, cancelTimer: () => undefined};
    if (this.#connected) return guard;
    guard.cancelTimer = startStallTolerantTimer(CONNECT_TIMEOUT_MS, () => {
      if (client.getChannel().getConnectivityState(false) === connectivityState.READY) return;
      guard.timedOut = true;
      cancel();
    });
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

type StreamCall = ClientReadableStream<Buffer> | ClientDuplexStream<Buffer, Buffer>;

/** State of the requests of a bidirectional stream. */
interface Sending {
  /** True if the call has ended, so that nothing more is sent. */
  isOver: boolean;
  /** Error of the caller's requests, which ends the call. */
  failure: Error | undefined;
}

function startStream(
  client: Client,
  {path, request, options}: {path: string; request: Buffer | AsyncIterable<Buffer>; options: WireCallOptions},
  sending: Sending,
): StreamCall {
  const metadata = metadataOf(options);
  const settings = callOptions(options);
  if (Buffer.isBuffer(request))
    return client.makeServerStreamRequest(path, identity, identity, request, metadata, settings);
  const call = client.makeBidiStreamRequest(path, identity, identity, metadata, settings);
  call.on('status', () => {
    sending.isOver = true;
  });
  void sendRequests(call, request, sending);
  return call;
}

/** Sends requests as fast as the server reads them. Never rejects: an error of the requests ends the call. */
async function sendRequests(
  call: ClientDuplexStream<Buffer, Buffer>,
  requests: AsyncIterable<Buffer>,
  sending: Sending,
): Promise<void> {
  const isOver = (): boolean => sending.isOver;
  try {
    for await (const message of requests) {
      if (isOver()) return;
      if (!call.write(message)) await drained(call, sending);
      if (isOver()) return;
    }
    call.end();
  } catch (error) {
    sending.failure = error instanceof Error ? error : new Error(String(error));
    call.cancel();
  }
}

/** Waits until the stream takes more data, or its call has ended. */
async function drained(call: ClientDuplexStream<Buffer, Buffer>, sending: Sending): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      call.removeListener('drain', done);
      call.removeListener('status', done);
      call.removeListener('close', done);
      resolve();
    };
    call.once('drain', done);
    call.once('status', done);
    call.once('close', done);
    if (sending.isOver) done();
  });
}

interface ConnectGuard {
  timedOut: boolean;
  /** Ends the limit, since the server has answered or the call has ended. */
  cancelTimer: () => void;
}

function callOptions({timeoutMs}: WireCallOptions): GrpcCallOptions {
  return timeoutMs > MAX_DEADLINE_MS ? {} : {deadline: systemClock.now() + timeoutMs};
}

function metadataOf({metadata = {}}: WireCallOptions): Metadata {
  const result = new Metadata();
  for (const [key, value] of Object.entries(metadata)) result.set(key, value);
  return result;
}

function detailsOf(error: ServiceError | null, target: string): string {
  const details = error?.details ?? 'no response';
  // grpc-js gives no reason when the server closes the connection before sending anything.
  if (details.startsWith('No connection established. Last error: Failed to connect'))
    return prefaceDetails('EOF');
  const dialError = Object.entries(DIAL_ERRORS).find(([errno]) => details.includes(`connect ${errno}`));
  return dialError === undefined ? details : dialDetails(target.slice('unix:'.length), dialError[1]);
}
