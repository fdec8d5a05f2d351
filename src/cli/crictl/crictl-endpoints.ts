import {isIPv4, isIPv6} from 'node:net';
import {ConfigError, KcriError, messageOf} from '../../base/errors.js';
import {goQuote} from '../../format/go-quote.js';
import type {EndpointSearch, NewConnection, ServiceName} from '../dialect/dialect.js';
import {validate, validationContext} from './validate-services.js';

/** Returns the socket path of an endpoint; one on which nothing answers if checkCrictlServices rejects the endpoint. */
export function resolveCrictlAddress(endpoint: string): string {
  try {
    return resolveFor('runtime', endpoint);
  } catch (error) {
    if (error instanceof ConfigError) return '/';
    throw error;
  }
}

/** Returns the same for the images; undefined unless they are needed: crictl then does not read their endpoint. */
export function resolveCrictlImageAddress(
  endpoint: string,
  needs: readonly ServiceName[],
): string | undefined {
  return needs.includes('images') ? resolveCrictlAddress(endpoint) : undefined;
}

/**
 * Resolves the address of each needed service and validates the service, before the next one. Rejects with KcriError
 * with crictl's message.
 */
export async function checkCrictlServices(made: NewConnection): Promise<void> {
  const {endpoint, imageEndpoint = endpoint} = made;
  for (const service of made.needs) {
    resolveFor(service, service === 'images' ? imageEndpoint : endpoint);
    await validate(service, made);
  }
}

function resolveFor(service: ServiceName, endpoint: string): string {
  if (endpoint === '')
    throw new ConfigError(`--${service === 'images' ? 'image' : 'runtime'}-endpoint is not set`);
  const {scheme, path} = parseEndpoint(endpoint);
  if (scheme === 'tcp') throw new ConfigError('only support unix socket endpoint');
  if (scheme !== 'unix') throw new ConfigError(`protocol "${scheme}" not supported`);
  if (path.startsWith('/')) return path;
  throw new ConfigError(
    `${validationContext(service, endpoint)}: rpc error: code = Unavailable desc = dns resolver: missing address`,
  );
}

interface EndpointUrl {
  readonly scheme: string;
  readonly path: string;
}

/** Parses an endpoint as a URL, with `unix://` in front if it is not a URL or lacks a scheme. Throws ConfigError. */
function parseEndpoint(endpoint: string): EndpointUrl {
  const url = parseUrl(endpoint);
  if (typeof url !== 'string' && url.scheme !== '') return url;
  const assumed = `unix://${endpoint}`;
  const again = parseUrl(assumed);
  if (typeof again !== 'string') return again;
  throw new ConfigError(again);
}

/** Parses a URL as Go's net/url; returns Go's message if it is invalid. Drops the host, the query and the fragment. */
function parseUrl(text: string): EndpointUrl | string {
  const [url = ''] = text.split('#', 1);
  const fragment = text.slice(url.length + 1);
  const [, scheme = '', rest = ''] = /^(?:([a-z][a-z\d+.-]*):)?([^?]*)/is.exec(url) ?? [];
  const [, authority = '', path = ''] = /^(?:\/\/([^/]*))?(.*)$/s.exec(rest) ?? [];
  const fault = controlFault(url) ?? authorityFault(authority) ?? escapeFault(path);
  const failure = faultIn(url, fault) ?? faultIn(text, escapeFault(fragment));
  return failure ?? {scheme: scheme.toLowerCase(), path: unescapePath(path)};
}

function faultIn(url: string, reason: string | undefined): string | undefined {
  return reason === undefined ? undefined : `parse ${goQuote(url)}: ${reason}`;
}

function controlFault(url: string): string | undefined {
  // The characters of \p{Cc}, whose table takes longer to make than a URL to parse.
  return /[\0-\x1f\x7f-\x9f]/.test(url) ? 'net/url: invalid control character in URL' : undefined;
}

function authorityFault(authority: string): string | undefined {
  const at = authority.lastIndexOf('@');
  const fault = hostFault(authority.slice(at + 1));
  return fault ?? (at < 0 ? undefined : userFault(authority.slice(0, at)));
}

function hostFault(host: string): string | undefined {
  const open = host.lastIndexOf('[');
  if (open > 0) return 'invalid IP-literal';
  if (open < 0) return nameFault(host) ?? portFault(/:(?!\d*$)[^:]*$/.exec(host)?.[0]);
  const close = host.lastIndexOf(']');
  if (close < 0) return `missing ']' in host`;
  const port = host.slice(close + 1);
  return portFault(/^(:\d*)?$/.test(port) ? undefined : port) ?? literalFault(host.slice(1, close));
}

/** Returns why an address in brackets is not an IPv6 address; the escaped name of its zone may follow. */
function literalFault(literal: string): string | undefined {
  const [address = '', zone] = literal.split(/%25(.*)/s);
  const escape =
    escapeFault(address) ?? (zone === undefined ? undefined : (escapeFault(zone) ?? nameFault(zone)));
  if (escape !== undefined) return escape;
  if (isIPv4(address)) return 'invalid IP-literal';
  return isIPv6(address) ? undefined : `invalid host: ParseAddr(${goQuote(address)}): unable to parse IP`;
}

function userFault(user: string): string | undefined {
  return /^[\w\-.~!$&'()*+,;=:%@]*$/.test(user) ? escapeFault(user) : 'net/url: invalid userinfo';
}

function portFault(port: string | undefined): string | undefined {
  return port === undefined ? undefined : `invalid port ${goQuote(port)} after host`;
}

function nameFault(host: string): string | undefined {
  const [escape] = /%(?!25)(?:[\da-f]{2}|.{0,2})/is.exec(host) ?? [];
  if (escape !== undefined) return `invalid URL escape ${goQuote(escape)}`;
  const [character] = /[^\w\-.~!$&'()*+,;=:[\]<>"%\u0080-\u{10ffff}]/u.exec(host) ?? [];
  return character === undefined ? undefined : `invalid character ${goQuote(character)} in host name`;
}

function escapeFault(text: string): string | undefined {
  const [escape] = /%(?![\da-f]{2}).{0,2}/is.exec(text) ?? [];
  return escape === undefined ? undefined : `invalid URL escape ${goQuote(escape)}`;
}

function unescapePath(path: string): string {
  if (!path.startsWith('/')) return '';
  return path.replace(/(?:%[\da-f]{2})+/gi, decodeBytes);
}

function decodeBytes(escapes: string): string {
  return Buffer.from(escapes.replaceAll('%', ''), 'hex').toString();
}

/**
 * Returns the default endpoint that crictl finds. Warns for each service that the command needs, and reports an error
 * for each socket that does not respond. Rejects with the last of these errors.
 */
export async function findCrictlEndpoint(search: EndpointSearch): Promise<string> {
  let found = '';
  for (const service of search.needs) found = await findService(service, search);
  return found;
}

async function findService(
  service: ServiceName,
  {wellKnownEndpoints, open, reporter, signal}: EndpointSearch,
): Promise<string> {
  const what = service === 'images' ? 'Image' : 'runtime';
  reporter.warn(
    `${what} connect using default endpoints: [${wellKnownEndpoints.join(' ')}]. As the default settings are now ` +
      'deprecated, you should set the endpoint instead.',
  );
  let last: KcriError = new ConfigError('no endpoint is known');
  for (const endpoint of wellKnownEndpoints) {
    const connection = await open(endpoint);
    try {
      await validate(service, {connection, endpoint, imageEndpoint: undefined, signal});
      return endpoint;
    } catch (error) {
      if (!(error instanceof KcriError)) throw error;
      reporter.error(messageOf(error));
      last = error;
    }
  }
  throw last;
}
