import type {HttpConnection, HttpRequest} from './http-connection.js';
import type {WireResponse} from './transport/transport.js';

/** Span of a request to the server. */
export interface ApiRequestSpan {
  /** Header fields that make the server's trace continue this one. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called with the status of the response. */
  responded(status: number): void;
  /** Called once when the response has been read, and with the error if there is none. */
  ended(error?: unknown): void;
}

/** Starts the span of a request. */
export type TraceApiRequest = (request: {readonly method: string; readonly url: URL}) => ApiRequestSpan;

/** Returns a connection to `server` whose requests are traced until their responses have been read (otelhttp). */
export function traceConnection(
  connection: Pick<HttpConnection, 'send'>,
  server: URL,
  trace: TraceApiRequest,
): Pick<HttpConnection, 'send'> {
  return {
    send: async (request, signal) => {
      const span = trace({method: request.method, url: urlOf(server, request)});
      const headers = {...request.headers, ...span.headers};
      try {
        const response = await connection.send({...request, headers}, signal);
        span.responded(response.status);
        return untilRead(response, span);
      } catch (error) {
        span.ended(error);
        throw error;
      }
    },
  };
}

function urlOf(server: URL, {path, query}: HttpRequest): URL {
  const url = new URL(`${server.pathname.replace(/\/$/, '')}${path}`, server);
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
  return url;
}

/** Returns a response that ends the span when it has been read or destroyed. */
function untilRead(response: WireResponse, span: ApiRequestSpan): WireResponse {
  let hasEnded = false;
  const end = (): void => {
    if (!hasEnded) span.ended();
    hasEnded = true;
  };
  return {
    status: response.status,
    header: (name) => response.header(name),
    body: readThrough(response.body, end),
    destroy: (error) => {
      response.destroy(error);
      end();
    },
  };
}

async function* readThrough(body: AsyncIterable<Uint8Array>, end: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } finally {
    end();
  }
}
