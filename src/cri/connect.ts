import {setMaxListeners} from 'node:events';
import type {CallOptions, MethodInfo} from './call-options.js';
import {decode, Decoder, encode} from './codec.js';
import {deadlineMs, DEFAULT_TIMEOUT_MS} from './deadlines.js';
import {defaultTransport} from './default-transport.js';
import type {MessageName} from './gen/schema.js';
import {IMAGE_METHODS, RUNTIME_METHODS, type ImageService, type RuntimeService} from './gen/services.js';
import {observeCall, type CallObserver, type CallWatch} from './call-observer.js';
import {retryingTransport, type RetryOptions} from './retrying-transport.js';
import {rpcFailure, type Transport} from './transport.js';
import {malformedDetails, WireError} from './wire-format.js';

/** Options of `connect`. */
export interface ConnectOptions {
  /** Base deadline of a call in milliseconds, to which the rules of deadlines.ts apply; default 120,000. */
  readonly timeoutMs?: number | undefined;
  /** Endpoint of the ImageService, if it differs from the runtime's. */
  readonly imageEndpoint?: string | undefined;
  /** Number of retries, with growing delays, while nothing answers at the endpoint; default 0. */
  readonly maxRetries?: number | undefined;
  /** Called before each delay. */
  readonly onRetry?: RetryOptions['onRetry'];
  /** Observers of every call. */
  readonly observers?: readonly CallObserver[] | undefined;
}

/** Clients of the two CRI services of a runtime. `close` closes the connection and cancels every call on it. */
export interface Connection extends Disposable {
  readonly endpoint: string;
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  close(): void;
}

/**
 * Returns a connection to the CRI runtime at `endpoint` (`unix:///path` or a path). The first call opens the socket;
 * both services share one connection unless `imageEndpoint` differs.
 *
 * Throws ConfigError for an invalid endpoint. Calls reject with CriError, or with the signal's reason when aborted.
 */
export function connect(endpoint: string, options: ConnectOptions = {}): Connection {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const imageEndpoint = options.imageEndpoint ?? endpoint;
  const transport = openTransport(endpoint, options);
  const imageTransport = imageEndpoint === endpoint ? transport : openTransport(imageEndpoint, options);
  const shared = {timeoutMs, observers: options.observers ?? []};
  const close = (): void => {
    transport.close();
    imageTransport.close();
  };
  return {
    endpoint,
    runtime: service('RuntimeService', RUNTIME_METHODS, {
      ...shared,
      transport,
      endpoint,
    }) as unknown as RuntimeService,
    images: service('ImageService', IMAGE_METHODS, {
      ...shared,
      transport: imageTransport,
      endpoint: imageEndpoint,
    }) as unknown as ImageService,
    close,
    [Symbol.dispose]: close,
  };
}

function openTransport(endpoint: string, {maxRetries = 0, onRetry}: ConnectOptions): Transport {
  const transport = defaultTransport(endpoint);
  return maxRetries > 0 ? retryingTransport(transport, {maxRetries, onRetry}) : transport;
}

interface Wire {
  readonly transport: Transport;
  readonly endpoint: string;
  readonly timeoutMs: number;
  readonly observers: readonly CallObserver[];
}

type Fields = Readonly<Record<string, unknown>>;

/** Builds the methods of a service from its table. The generated interface declares their types. */
function service(
  name: string,
  methods: Readonly<Record<string, MethodInfo>>,
  wire: Wire,
): Readonly<Record<string, unknown>> {
  const entries = Object.entries(methods).map(([key, info]) => [
    key,
    (info.stream ? streamMethod : unaryMethod)(`runtime.v1.${name}`, info, wire),
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

function unaryMethod(service: string, info: MethodInfo, wire: Wire) {
  return async (request: Fields = {}, options: CallOptions = {}): Promise<unknown> => {
    const watch = observe(service, info, request, wire);
    try {
      const fields = watch === undefined ? options.fields : undefined;
      const createDecoder = (): Decoder<MessageName> => new Decoder(info.response, fields);
      const message = encode(info.request, request);
      const path = `/${service}/${info.rpc}`;
      const decoder = await wire.transport.unary(path, message, createDecoder, {
        signal: signalOf(options),
        timeoutMs: options.timeoutMs ?? deadlineMs(info.rpc, request, wire.timeoutMs),
        metadata: watch?.metadata,
      });
      const response = decodeResponse(wire.endpoint, path, () => decoder.end());
      watch?.received(response);
      watch?.ended();
      return response;
    } catch (error) {
      watch?.ended(error);
      throw error;
    }
  };
}

function streamMethod(service: string, info: MethodInfo, wire: Wire) {
  return async function* (request: Fields = {}, options: CallOptions = {}): AsyncGenerator {
    const watch = observe(service, info, request, wire);
    let failure: unknown;
    try {
      const path = `/${service}/${info.rpc}`;
      const frames = wire.transport.stream(path, encode(info.request, request), {
        signal: signalOf(options),
        timeoutMs: options.timeoutMs ?? Infinity,
        metadata: watch?.metadata,
      });
      for await (const bytes of frames) {
        const fields = watch === undefined ? options.fields : undefined;
        const message = decodeResponse(wire.endpoint, path, () => decode(info.response, bytes, fields));
        watch?.received(message);
        yield message;
      }
    } catch (error) {
      // A reader ends a stream by aborting or by leaving its loop.
      if (options.signal?.aborted !== true) failure = error;
      throw error;
    } finally {
      watch?.ended(failure);
    }
  };
}

/** Decodes a response. Throws CriError with grpc-go's code and text if it is malformed. */
function decodeResponse<T>(endpoint: string, path: string, decodeMessage: () => T): T {
  try {
    return decodeMessage();
  } catch (cause) {
    if (!(cause instanceof WireError)) throw cause;
    throw rpcFailure(endpoint, path, {grpcCode: 'INTERNAL', details: malformedDetails(cause), cause});
  }
}

/** Allows any number of abort listeners: one signal cancels many calls, and Node.js would warn about a leak. */
function signalOf({signal}: CallOptions): CallOptions['signal'] {
  if (signal !== undefined) setMaxListeners(0, signal);
  return signal;
}

/** Starts observing a call. Returns undefined if there are no observers, which is the usual case. */
function observe(
  service: string,
  method: MethodInfo,
  request: Fields,
  {observers, endpoint}: Wire,
): Required<CallWatch> | undefined {
  return observers.length === 0 ? undefined : observeCall(observers, {service, endpoint, method, request});
}
