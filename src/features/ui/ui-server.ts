import {X509Certificate} from 'node:crypto';
import {hostname} from 'node:os';
import {isUnspecifiedIp} from '../../base/net/ip-address.js';
import {joinHostPort} from '../../base/net/join-host-port.js';
import type {Clock} from '../../base/clock.js';
import {readCertificatePair} from '../../http-server/certificate-pair.js';
import {listen} from '../../http-server/listener.js';
import {TurnQueue} from '../../http-server/turn-queue.js';
import type {Sessions} from './server/sessions.js';
import {UiApp, type UiAppOptions} from './server/ui-app.js';
import type {UiOptions} from './ui-flags.js';

/** Number of connections; a browser opens six to a server. */
const MAX_CONNECTIONS = 128;

/** A server of the page that listens. */
export interface UiServer {
  /** URL of the page without a token. */
  readonly url: string;
  /** Stops listening and closes all connections. */
  close(): Promise<void>;
}

/** Options of {@link startUiServer}. */
export interface UiServerOptions
  extends Pick<UiOptions, 'address' | 'port' | 'tls'>, Omit<UiAppOptions, 'address' | 'sessions' | 'clock'> {
  readonly sessions: Sessions;
  readonly clock: Clock;
}

/** Starts to serve the page. Rejects with SystemError if the address is in use, and with ConfigError for an invalid certificate. */
export async function startUiServer(options: UiServerOptions): Promise<UiServer> {
  const {address, port, tls: files, clock} = options;
  const pair = files && (await readCertificatePair(files.certFile, files.keyFile));
  const certificate = pair && new X509Certificate(pair.certificate);
  let bound = port;
  const app = new UiApp({...options, address: () => ({address, port: bound, certificate})});
  const listener = await listen(
    {address, port},
    {
      respond: async (exchange) => {
        await app.respond(exchange);
      },
      clock,
      schedule: new TurnQueue().schedule,
      maxConnections: MAX_CONNECTIONS,
      hint: 'set another --port, or omit it to use any free port',
      tls: pair && {cert: pair.certificate, key: pair.key, minVersion: 'TLSv1.2'},
    },
  );
  const {protocol, port: text} = new URL(listener.url);
  // A URL omits the default port of its scheme.
  bound = text === '' ? port : Number(text);
  const isAny = isUnspecifiedIp(address);
  return {
    url: `${protocol}//${joinHostPort({host: isAny ? hostname() : address, port: bound})}/`,
    close: async () => {
      await listener.close();
    },
  };
}
