import http, {type IncomingMessage} from 'node:http';
import type {Duplex} from 'node:stream';
import {startTimer} from '../../base/async/timer.js';
import {hasErrno, SystemError} from '../../base/errors.js';
import {StaleConnectionError, type Transport, type WireRequest, type WireResponse} from './transport.js';

/**
 * Sends requests over HTTP/1.1, one at a time on each connection. HTTP/1.1 has no ping: when a request gets no response in
 * time, all connections are closed, since watches on them may be just as dead (the kubelet's closeAllConns).
 */
export class Http1Transport implements Transport {
  readonly #host: string;
  readonly #agent: http.Agent;

  /** `open` opens a connection; it is encrypted if the server wants that. */
  constructor(host: string, open: () => Promise<Duplex>) {
    this.#host = host;
    this.#agent = new http.Agent({keepAlive: true});
    this.#agent.createConnection = (_options, callback) => {
      open().then(
        (socket) => callback?.(null, socket),
        // The type requires a stream beside the error.
        (error: unknown) => (callback as ((error: unknown) => void) | undefined)?.(error),
      );
      return undefined;
    };
  }

  async send(
    {method, path, headers, body, timeoutMs}: WireRequest,
    signal: AbortSignal,
  ): Promise<WireResponse> {
    return await new Promise<WireResponse>((resolve, reject) => {
      const length = body === undefined ? {} : {'content-length': Buffer.byteLength(body)};
      const sent = http.request({
        ...{method, path, agent: this.#agent, signal},
        headers: {host: this.#host, ...headers, ...length},
      });
      const cancelTimer = startTimer(timeoutMs, () => {
        sent.destroy(new SystemError(`no response within ${timeoutMs / 1000} s`));
        this.close();
      });
      sent.once('response', (response) => {
        cancelTimer();
        resolve(toWireResponse(response));
      });
      sent.on('error', (error) => {
        cancelTimer();
        const isStale = sent.reusedSocket && hasErrno(error, 'ECONNRESET', 'EPIPE');
        reject(isStale ? new StaleConnectionError(error.message, {cause: error}) : error);
      });
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function toWireResponse(response: IncomingMessage): WireResponse {
  response.on('error', (error) => {
    // The message of Node.js for a server that ends the connection, for example when it is shut down.
    if (error.message === 'aborted') error.message = 'the API server closed the connection';
  });
  return {
    status: response.statusCode ?? 0,
    header: (name) => {
      const value = response.headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
    body: response,
    destroy: (error) => {
      response.destroy(error);
    },
  };
}
