import {anySignal} from '../base/async/any-signal.js';
import {pause} from '../base/async/pause.js';
import {startTimer} from '../base/async/timer.js';
import type {TokenBucket} from '../base/async/token-bucket.js';
import {createDeadline} from '../base/async/deadline.js';
import type {Clock} from '../base/clock.js';
import {SystemError} from '../base/errors.js';
import {isObject} from '../base/is-object.js';
import {ApiError, createApiError, fromStatus} from './api-error.js';
import type {HttpConnection, HttpRequest} from './http-connection.js';
import {NO_OBSERVER, type RequestObserver} from './request-observer.js';
import {splitLines} from './lines.js';
import type {WireResponse} from './transport/transport.js';

/** A request to the API server. */
export interface ApiRequest extends Pick<HttpRequest, 'method' | 'path' | 'query'> {
  readonly body?: object;
  /** Time limit of all attempts together in ms, from the first one on; the server learns it too. 30 s by default. */
  readonly timeoutMs?: number;
}

/** Request of a watch. */
export interface WatchRequest extends Pick<HttpRequest, 'path' | 'query'> {
  /** Time in ms after which the watch is ended, if the server has not ended it. */
  readonly maxMs: number;
}

/** Event of a watch as the server sends it. */
export interface RawWatchEvent {
  readonly type: string;
  /** An object with metadata, or the Status of an ERROR. */
  readonly object: object;
}

/** Options of {@link ApiClient}. */
export interface ApiClientOptions {
  readonly connection: Pick<HttpConnection, 'send'>;
  /** Limit of the rate of requests; none by default. */
  readonly limiter?: Pick<TokenBucket, 'take'>;
  readonly userAgent: string;
  readonly clock: Clock;
  /** Observer of the requests; none by default. */
  readonly observer?: RequestObserver;
}

/** Time limit of a request, in ms: a dead connection is noticed within it. */
const TIMEOUT_MS = 30_000;
/** Maximum size of a response, in bytes. A page of a list has at most 500 objects. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;
/** Number of times that a request is repeated when the server asks for it (client-go's maxRetries). */
const MAX_RETRIES = 10;

const CONTENT_TYPES = {
  PATCH: 'application/strategic-merge-patch+json',
} as const satisfies Partial<Record<HttpRequest['method'], string>>;

/** Client of an API server: JSON over HTTP (client-go's rest.Request). */
export class ApiClient {
  readonly #options: ApiClientOptions;
  readonly #observer: RequestObserver;

  constructor(options: ApiClientOptions) {
    this.#options = options;
    this.#observer = options.observer ?? NO_OBSERVER;
  }

  /**
   * Resolves with the object in the response. A PATCH is a strategic merge patch. Repeats the request when the server
   * names a time for it (Retry-After), within the time limit. Rejects with ApiError, with the connection's errors, with
   * SystemError, and with the signal's reason; with anything else for programming errors only.
   */
  async request(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    const startedAt = this.#options.clock.monotonic();
    try {
      return await this.#requestUntilAccepted(request, signal);
    } finally {
      this.#observer.ended(request.method, this.#options.clock.monotonic() - startedAt);
    }
  }

  async #requestUntilAccepted(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    const {clock} = this.#options;
    // A client that must wait for its turn does not time out before it has asked (client-go's Request.request).
    await this.#takeTurn(request, signal);
    const leftMs = startTimeLimit(clock, request.timeoutMs ?? TIMEOUT_MS);
    for (let retries = 0; ; retries += 1) {
      try {
        return await this.#requestOnce(request, leftMs, signal);
      } catch (error) {
        signal.throwIfAborted();
        const delaySeconds = retryDelaySeconds(error);
        if (delaySeconds === undefined || retries === MAX_RETRIES) throw error;
        const left = leftMs();
        // Even the last wait is observed: a caller that tries again must not load the server more than it asked for.
        await pause(clock, Math.min(delaySeconds * 1000, left), signal);
        if (delaySeconds * 1000 >= left) throw error;
      }
      await this.#takeTurn(request, signal);
    }
  }

  async #requestOnce(request: ApiRequest, leftMs: () => number, signal: AbortSignal): Promise<unknown> {
    const response = await this.#send(request, leftMs(), signal);
    const text = await readText(response, leftMs());
    this.#observer.received(request.method, Buffer.byteLength(text));
    requireSuccess(response, text);
    return parseJson(text);
  }

  /**
   * Watches a collection. Ends when the server ends the watch or the connection. Rejects like `request`, with the
   * ApiError of an event of type ERROR, and with SystemError for malformed events and for a watch that does not end.
   */
  async *watch({path, query, maxMs}: WatchRequest, signal: AbortSignal): AsyncGenerator<RawWatchEvent> {
    using deadline = createDeadline(
      this.#options.clock,
      maxMs,
      () => new SystemError(`the watch did not end within ${maxMs / 1000} s`),
    );
    using either = anySignal(signal, deadline.signal);
    yield* this.#watch({path, query}, either.signal);
  }

  async *#watch(
    {path, query}: Pick<HttpRequest, 'path' | 'query'>,
    signal: AbortSignal,
  ): AsyncGenerator<RawWatchEvent> {
    const request = {method: 'GET', path, query: {...query, watch: 'true'}} as const;
    await this.#takeTurn(request, signal);
    const response = await this.#send(request, TIMEOUT_MS, signal);
    try {
      if (!isSuccess(response)) requireSuccess(response, await readText(response, TIMEOUT_MS));
      for await (const line of splitLines(response.body)) {
        const event = parseEvent(line);
        if (event.type === 'ERROR') throw fromStatus(event.object, 500);
        yield event;
      }
    } finally {
      response.destroy();
    }
  }

  /** Waits until the rate of requests permits this one. */
  async #takeTurn({method}: ApiRequest, signal: AbortSignal): Promise<void> {
    const {limiter, clock} = this.#options;
    const askedAt = clock.monotonic();
    await limiter?.take(signal);
    this.#observer.waited(method, clock.monotonic() - askedAt);
  }

  async #send(request: ApiRequest, timeoutMs: number, signal: AbortSignal): Promise<WireResponse> {
    const {userAgent} = this.#options;
    const {method, path} = request;
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const query = {
      ...request.query,
      ...(request.timeoutMs !== undefined && {timeout: `${request.timeoutMs / 1000}s`}),
    };
    const contentType = method === 'PATCH' ? CONTENT_TYPES.PATCH : 'application/json';
    return await this.#observed(
      {
        method,
        path,
        query: Object.keys(query).length === 0 ? undefined : query,
        headers: {
          accept: 'application/json, */*',
          'user-agent': userAgent,
          ...(body !== undefined && {'content-type': contentType}),
        },
        body,
        timeoutMs,
      },
      signal,
    );
  }

  /** Sends a request and reports the head of its response, or that there was none. */
  async #observed(request: HttpRequest, signal: AbortSignal): Promise<WireResponse> {
    const {method, body = ''} = request;
    const report = (status?: number): void => {
      this.#observer.responded({method, status, requestBytes: Buffer.byteLength(body)});
    };
    try {
      const response = await this.#options.connection.send(request, signal);
      report(response.status);
      return response;
    } catch (error) {
      report();
      throw error;
    }
  }
}

/**
 * Starts a time limit. Returns a function that returns what is left of it, in ms: at least 1, so that a request which
 * begins has a timer.
 */
function startTimeLimit(clock: Clock, limitMs: number): () => number {
  const endsAt = clock.monotonic() + limitMs;
  return () => Math.max(endsAt - clock.monotonic(), 1);
}

/** Returns the seconds after which the server wants the request again (client-go's retryAfterSeconds). */
function retryDelaySeconds(error: unknown): number | undefined {
  if (!(error instanceof ApiError) || (error.code !== 429 && error.code < 500)) return undefined;
  return error.retryAfterSeconds;
}

/** Parses JSON. The error of JSON.parse quotes the text, which can contain a Secret. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SystemError(`the server sent ${text.length} characters that are not JSON`);
  }
}

function parseEvent(line: string): RawWatchEvent {
  const event = parseJson(line);
  const {type, object} = isObject(event) ? event : {};
  const isComplete = isObject(object) && (type === 'ERROR' || isObject(object['metadata']));
  if (typeof type !== 'string' || !isComplete)
    throw new SystemError('the server sent a malformed watch event');
  return {type, object};
}

function isSuccess({status}: WireResponse): boolean {
  return status >= 200 && status < 300;
}

function requireSuccess(response: WireResponse, text: string): void {
  if (!isSuccess(response)) throw createApiError(response.status, text, response.header('retry-after'));
}

async function readText(response: WireResponse, timeoutMs: number): Promise<string> {
  const cancelTimer = startTimer(timeoutMs, () => {
    response.destroy(new SystemError(`the response was incomplete after ${timeoutMs / 1000} s`));
  });
  try {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) throw new SystemError(`the response has more than ${MAX_BODY_BYTES} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString();
  } finally {
    cancelTimer();
  }
}
