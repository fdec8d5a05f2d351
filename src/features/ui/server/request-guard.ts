import type {IncomingHttpHeaders} from 'node:http';
import type {X509Certificate} from 'node:crypto';
import {isIP} from 'node:net';
import {RequestError} from './request-error.js';

/** Address that the server is bound to. */
export interface ServedAddress {
  /** IP address. */
  readonly address: string;
  readonly port: number;
  /** Certificate of the server; undefined without TLS, which is on loopback. */
  readonly certificate?: X509Certificate | undefined;
}

/** Names of the loopback interface. */
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * Throws RequestError 421 unless the request is for this server: for a name of the loopback interface, or with TLS for one that
 * its certificate is valid for. A page of another site whose name resolves to this address (DNS rebinding) sends its own
 * name.
 */
export function checkHost({host = ''}: IncomingHttpHeaders, address: ServedAddress): void {
  if (isOwnAuthority(host.toLowerCase(), address)) return;
  throw new RequestError(
    421,
    'the request is for another host or port',
    `open the link that kcri ui printed; through ssh, forward the same port: ssh -L ${address.port}:127.0.0.1:${address.port} HOST`,
  );
}

function isOwnAuthority(authority: string, {address, port, certificate}: ServedAddress): boolean {
  const suffix = `:${port}`;
  // Browsers omit the default port of the scheme.
  const isDefault = port === (certificate === undefined ? 80 : 443);
  const host = authority.endsWith(suffix)
    ? authority.slice(0, -suffix.length)
    : isDefault
      ? authority
      : undefined;
  if (host === undefined) return false;
  if (LOOPBACK_HOSTS.has(host) || host === address) return true;
  return certificate !== undefined && isCertified(host, certificate);
}

function isCertified(host: string, certificate: X509Certificate): boolean {
  const name = host.replace(/^\[|\]$/g, '');
  const certified = isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name);
  return certified !== undefined;
}

/** Throws RequestError 403 unless the request comes from the page itself: browsers say where requests come from. */
export function checkOrigin(
  {origin, host = '', 'sec-fetch-site': site}: IncomingHttpHeaders,
  {isChange, isSecure}: {readonly isChange: boolean; readonly isSecure: boolean},
): void {
  const own = `${isSecure ? 'https' : 'http'}://${host.toLowerCase()}`;
  const isOwn = origin === undefined ? !isChange : origin.toLowerCase() === own;
  if (isOwn && (site === undefined || site === 'same-origin')) return;
  throw new RequestError(403, 'the request does not come from the page of kcri ui');
}
