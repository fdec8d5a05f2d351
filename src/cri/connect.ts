import type {CallOptions, MethodInfo} from './call.js';
import {decode, encode} from './codec.js';
import {deadlineMs, DEFAULT_TIMEOUT_MS} from './deadlines.js';
import {IMAGE_METHODS, RUNTIME_METHODS, type ImageService, type RuntimeService} from './gen/services.js';
import {grpcTransport, type Transport} from './transport.js';

/** How to connect. */
export interface ConnectOptions {
  /** What one call may take, in milliseconds, before the rules of deadlines.ts; default 120,000. */
  readonly timeoutMs?: number | undefined;
  /** Where the ImageService listens, when it is not the runtime's endpoint. */
  readonly imageEndpoint?: string | undefined;
}

/** The two CRI services of a runtime. `close` ends the connection and every call on it. */
export interface Connection extends Disposable {
  readonly endpoint: string;
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  close(): void;
}

/**
 * A connection to the CRI runtime at `endpoint` (`unix:///path` or a path). Nothing is opened or probed
 * before the first call, and both services share one connection unless `imageEndpoint` differs.
 *
 * Throws ConfigError for an endpoint that can't be one. Calls reject with CriError, or with the signal's
 * reason when they are aborted.
 */
export function connect(endpoint: string, options: ConnectOptions = {}): Connection {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const transport = grpcTransport(endpoint);
  const imageEndpoint = options.imageEndpoint ?? endpoint;
  const imageTransport = imageEndpoint === endpoint ? transport : grpcTransport(imageEndpoint);
  const close = (): void => {
    transport.close();
    imageTransport.close();
  };
  return {
    endpoint,
    runtime: service('RuntimeService', RUNTIME_METHODS, {transport, timeoutMs}) as unknown as RuntimeService,
    images: service('ImageService', IMAGE_METHODS, {
      transport: imageTransport,
      timeoutMs,
    }) as unknown as ImageService,
    close,
    [Symbol.dispose]: close,
  };
}

interface Wire {
  readonly transport: Transport;
  readonly timeoutMs: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** The service's methods from its table; the generated interface says what each takes and gives. */
function service(
  name: string,
  methods: Readonly<Record<string, MethodInfo>>,
  wire: Wire,
): Readonly<Record<string, unknown>> {
  const entries = Object.entries(methods).map(([key, info]) => [
    key,
    (info.stream ? streamMethod : unaryMethod)(`/runtime.v1.${name}/${info.rpc}`, info, wire),
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

function unaryMethod(path: string, info: MethodInfo, {transport, timeoutMs}: Wire) {
  return async (request: Fields = {}, options: CallOptions = {}): Promise<unknown> => {
    const bytes = await transport.unary(path, encode(info.request, request), {
      signal: options.signal,
      timeoutMs: options.timeoutMs ?? deadlineMs(info.rpc, request, timeoutMs),
    });
    return decode(info.response, bytes);
  };
}

function streamMethod(path: string, info: MethodInfo, {transport}: Wire) {
  return async function* (request: Fields = {}, options: CallOptions = {}): AsyncGenerator {
    const frames = transport.stream(path, encode(info.request, request), {
      signal: options.signal,
      timeoutMs: options.timeoutMs ?? Infinity,
    });
    for await (const bytes of frames) yield decode(info.response, bytes);
  };
}
