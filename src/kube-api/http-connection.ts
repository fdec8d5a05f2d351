import {setMaxListeners} from 'node:events';
import type {Socket} from 'node:net';
import type {TLSSocket} from 'node:tls';
import {abortable} from '../base/async/abortable.js';
import {systemClock, type Clock} from '../base/clock.js';
import {SystemError} from '../base/errors.js';
import {joinHostPort} from '../base/net/join-host-port.js';
import type {ClientTls, Credentials, CredentialSource} from './kubeconfig/credentials.js';
import {Http1Transport} from './transport/http1-transport.js';
import {Http2Transport} from './transport/http2-transport.js';
import {hostPortOf, openTcp, openTls} from './transport/open-socket.js';
import {openTunnel} from './transport/open-tunnel.js';
import {TlsContexts, type SystemRoots} from './transport/tls-contexts.js';
import {StaleConnectionError, type Transport, type WireResponse} from './transport/transport.js';

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

/** Options of {@link HttpConnection}. */
export interface HttpConnectionOptions {
  /** Proxy through which the server is reached; none by default. */
  readonly proxy?: URL | undefined;
  readonly clock?: Clock;
  /** Certificate authorities for a server without one of its own; those of this machine by default. */
  readonly systemRoots?: SystemRoots;
}

/** Protocols in the order of preference, as negotiated with TLS. */
const PROTOCOLS = ['h2', 'http/1.1'];

/** Alerts of a server that does not accept the client certificate, by OpenSSL's name in the codes of Node.js. */
const CERTIFICATE_ALERT = /^ERR_SSL_(?:SSLV3|TLSV1|TLSV13)_ALERT_(.*CERTIFICATE.*|UNKNOWN_CA|ACCESS_DENIED)$/;

/**
 * Returns the reason of a TLS alert about the client certificate, such as `certificate expired`; undefined for other
 * errors. With TLS 1.3, the alert arrives after the handshake, with the first request.
 */
function certificateAlert(error: unknown): string | undefined {
  const {code} = (error instanceof Error ? error : {}) as {readonly code?: unknown};
  const [, reason] = (typeof code === 'string' ? CERTIFICATE_ALERT.exec(code) : null) ?? [];
  return reason?.toLowerCase().replaceAll('_', ' ').replace('unknown ca', 'unknown authority');
}

/**
 * Sends requests over connections that are kept open, with the credentials of the moment: HTTP/2 if the server offers it with
 * TLS, or else HTTP/1.1.
 */
export class HttpConnection {
  readonly #server: URL;
  readonly #credentials: CredentialSource;
  readonly #proxy: URL | undefined;
  readonly #clock: Clock;
  readonly #contexts: TlsContexts;
  #current: {readonly tls: ClientTls; readonly transport: Promise<Transport>} | undefined;

  constructor(
    server: URL,
    credentials: CredentialSource,
    {proxy, clock = systemClock, systemRoots}: HttpConnectionOptions = {},
  ) {
    this.#server = server;
    this.#credentials = credentials;
    this.#proxy = proxy;
    this.#clock = clock;
    this.#contexts = new TlsContexts(systemRoots);
  }

  /**
   * Resolves with the head of the response, whose body the caller must read or destroy. Rejects with the system error
   * of the connection, with the credentials' errors, and with the signal's reason, which also ends the body.
   */
  async send(request: HttpRequest, signal: AbortSignal): Promise<WireResponse> {
    // A kubelet makes all its requests with one signal.
    setMaxListeners(0, signal);
    const credentials = await this.#credentials.current();
    signal.throwIfAborted();
    try {
      const response = await this.#sendTwice(request, credentials, signal);
      if (response.status === 401) this.#credentials.rejected?.(credentials);
      return response;
    } catch (error) {
      signal.throwIfAborted();
      const reason = certificateAlert(error);
      if (reason === undefined) throw error;
      // A renewed certificate is used from the next connection on.
      this.#credentials.rejected?.(credentials);
      throw new SystemError(`the API server rejected the client certificate: ${reason}`, {cause: error});
    }
  }

  async #sendTwice(
    request: HttpRequest,
    credentials: Credentials,
    signal: AbortSignal,
  ): Promise<WireResponse> {
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
    const closing = this.#current?.transport;
    this.#current = undefined;
    closing?.then(
      (transport) => {
        transport.close();
      },
      () => undefined, // its requests have the error
    );
  }

  async #sendOnce(
    {method, path, query, headers, body, timeoutMs}: HttpRequest,
    {tls, token}: Credentials,
    signal: AbortSignal,
  ): Promise<WireResponse> {
    const transport = await abortable(this.#transportFor(tls), signal);
    const search = query === undefined ? '' : `?${new URLSearchParams(query).toString()}`;
    return await transport.send(
      {
        method,
        path: `${this.#server.pathname.replace(/\/$/, '')}${path}${search}`,
        headers: {...headers, ...(token !== undefined && {authorization: `Bearer ${token}`})},
        body,
        timeoutMs,
      },
      signal,
    );
  }

  /**
   * Resolves with the transport for the credentials. When the certificate has changed, the connections with the old one
   * are closed, as in client-go; their requests fail and are repeated by their callers.
   */
  async #transportFor(tls: ClientTls): Promise<Transport> {
    if (this.#current?.tls !== tls) this.close();
    this.#current ??= {tls, transport: this.#openTransport(tls)};
    const current = this.#current;
    try {
      return await current.transport;
    } catch (error) {
      if (this.#current === current) this.#current = undefined;
      throw error;
    }
  }

  async #openTransport(tls: ClientTls): Promise<Transport> {
    const authority = joinHostPort(hostPortOf(this.#server));
    if (this.#server.protocol === 'http:') return new Http1Transport(authority, async () => this.#open(tls));
    const first = await this.#openTls(tls, PROTOCOLS);
    if (first.alpnProtocol === 'h2')
      return new Http2Transport(first, {
        authority,
        open: async () => this.#openTls(tls, ['h2']),
        clock: this.#clock,
      });
    const unused = [first];
    return new Http1Transport(authority, async () => unused.pop() ?? this.#openTls(tls, ['http/1.1']));
  }

  async #openTls(tls: ClientTls, protocols: readonly string[]): Promise<TLSSocket> {
    const {servername, rejectUnauthorized} = tls;
    const {host} = hostPortOf(this.#server);
    const context = await this.#contexts.forServer(tls);
    return await openTls(await this.#open(tls), {host, servername, rejectUnauthorized, context, protocols});
  }

  async #open(tls: ClientTls): Promise<Socket> {
    const target = hostPortOf(this.#server);
    if (this.#proxy === undefined) return await openTcp(target);
    return await openTunnel(this.#proxy, target, {
      rejectUnauthorized: tls.rejectUnauthorized,
      context: async () => this.#contexts.forProxy(tls),
    });
  }
}
