import {DEFAULT_TIMEOUT_MS} from './deadlines.js';
import {defaultTransport} from './default-transport.js';
import {IMAGE_METHODS, RUNTIME_METHODS, type ImageService, type RuntimeService} from './gen/services.js';
import type {CallObserver} from './call-observer.js';
import {socketPath} from './endpoint.js';
import {CRI_SCHEMAS} from './message-schema.js';
import {retryingTransport, type RetryOptions} from './retrying-transport.js';
import {createServiceClient} from './service-client.js';
import type {Transport} from './transport.js';

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
  /** Returns the socket to connect to for an endpoint, if the endpoint does not name it. */
  readonly resolveSocket?: ((endpoint: string) => string) | undefined;
  /** Transport of the calls instead of a connection to the socket. */
  readonly transport?: Transport | undefined;
  /** Returns the error to report for a failed call. */
  readonly explain?: ((error: unknown) => Promise<unknown>) | undefined;
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
  const shared = {
    timeoutMs,
    observers: options.observers ?? [],
    schemas: CRI_SCHEMAS,
    explain: options.explain,
  };
  const close = (): void => {
    transport.close();
    imageTransport.close();
  };
  return {
    endpoint,
    runtime: createServiceClient<RuntimeService>('runtime.v1.RuntimeService', RUNTIME_METHODS, {
      ...shared,
      transport,
      endpoint,
    }),
    images: createServiceClient<ImageService>('runtime.v1.ImageService', IMAGE_METHODS, {
      ...shared,
      transport: imageTransport,
      endpoint: imageEndpoint,
    }),
    close,
    [Symbol.dispose]: close,
  };
}

function openTransport(endpoint: string, options: ConnectOptions): Transport {
  if (options.transport !== undefined) return options.transport;
  const {maxRetries = 0, onRetry, resolveSocket = socketPath} = options;
  const transport = defaultTransport(endpoint, resolveSocket(endpoint));
  return maxRetries > 0 ? retryingTransport(transport, {maxRetries, onRetry}) : transport;
}
