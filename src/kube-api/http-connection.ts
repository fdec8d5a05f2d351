import http, {type IncomingMessage, type RequestOptions} from 'node:http';
import https from 'node:https';
import {hasErrno} from '../base/errors.js';
import {startTimer} from '../base/async/timer.js';
import type {Credentials, CredentialSource} from './kubeconfig/credentials.js';

/** An HTTP request to the API server. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute path below the server's URL, such as `/api/v1/nodes`, with escaped names. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Time limit until the head of the response, in ms. */
  readonly timeoutMs: number;
}

/** Idle time after which the kernel probes a connection, in ms; it gives up 10 s later. */
const KEEP_ALIVE_PROBE_MS = 10_000;

/** Sends requests over connections that are kept open, with the credentials of the moment. */
export class HttpConnection {
  readonly #server: URL;
  readonly #credentials: CredentialSource;
  #agent: {readonly of: Credentials; readonly agent: http.Agent} | undefined;

  constructor(server: URL, credentials: CredentialSource) {
    this.#server = server;
    this.#credentials = credentials;
  }

  /**
   * Resolves with the head of the response, whose body the caller must read or destroy. Rejects with the system error
   * of the connection, with the credentials' errors, and with the signal's reason, which also ends the body.
   */
  async send(request: HttpRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const credentials = await this.#credentials.current();
    signal.throwIfAborted();
    try {
      return await this.#sendOnce(request, credentials, signal);
    } catch (error) {
      signal.throwIfAborted();
      // The server closed an idle connection at the moment it was used again.
      if (!(error instanceof StaleConnectionError) || request.method === 'POST') throw error;
      return await this.#sendOnce(request, credentials, signal);
    }
  }

  /** Closes all connections. */
  close(): void {
    this.#agent?.agent.destroy();
    this.#agent = undefined;
  }

  async #sendOnce(
    {method, path, query, headers, body, timeoutMs}: HttpRequest,
    credentials: Credentials,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const {protocol, hostname, port, pathname} = this.#server;
    const search = query === undefined ? '' : `?${new URLSearchParams(query).toString()}`;
    const options: RequestOptions = {
      method,
      // Brackets of an IPv6 address belong to the URL.
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? undefined : port,
      path: `${pathname.replace(/\/$/, '')}${path}${search}`,
      headers: {
        ...headers,
        ...(credentials.token !== undefined && {authorization: `Bearer ${credentials.token}`}),
        ...(body !== undefined && {'content-length': Buffer.byteLength(body)}),
      },
      agent: this.#agentFor(credentials),
      signal,
    };
    return await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = (protocol === 'https:' ? https : http).request(options);
      const cancelTimer = startTimer(timeoutMs, () => {
        sent.destroy(new Error(`no response within ${timeoutMs / 1000} s`));
      });
      sent.once('socket', (socket) => socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS));
      sent.once('response', (response) => {
        cancelTimer();
        resolve(response);
      });
      sent.on('error', (error) => {
        cancelTimer();
        const isStale = sent.reusedSocket && hasErrno(error, 'ECONNRESET', 'EPIPE');
        reject(isStale ? new StaleConnectionError(error.message, {cause: error}) : error);
      });
      sent.end(body);
    });
  }

  /**
   * Returns the agent for the credentials. When the certificate has changed, the connections with the old one are closed,
   * as in client-go; their requests fail and are repeated by their callers.
   */
  #agentFor(credentials: Credentials): http.Agent {
    if (this.#agent?.of.tls !== credentials.tls) {
      this.close();
      const options = {keepAlive: true, ...credentials.tls};
      const agent = this.#server.protocol === 'https:' ? new https.Agent(options) : new http.Agent(options);
      this.#agent = {of: credentials, agent};
    }
    return this.#agent.agent;
  }
}

/** A connection that was closed before its next request. */
class StaleConnectionError extends Error {}
