import {request as httpRequest, STATUS_CODES, type IncomingMessage} from 'node:http';
import {request as httpsRequest} from 'node:https';
import {LARGEST_MANIFEST_BYTES} from '../../api/manifest.js';
import {ConfigError, messageOf} from '../../base/errors.js';
import {shownUrl} from '../../format/shown-url.js';

/** What is sent with a request for manifests (--manifest-url-header), by name; values may be secret. */
export type ManifestHeaders = Readonly<Record<string, readonly string[]>>;

/** A manifest couldn't be fetched; in the words of a Go program. */
export class FetchError extends ConfigError {}

const MOST_REDIRECTS = 10;
const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308]);
/** These go to no other host than the one that they are meant for (net/http shouldCopyHeaderOnRedirect). */
const FOR_ONE_HOST: ReadonlySet<string> = new Set(['authorization', 'cookie', 'cookie2', 'www-authenticate']);

/** What is sent to whom. */
export interface FetchOptions {
  readonly headers: ManifestHeaders;
  /** Told of a redirection from https to http, where credentials that would have gone on stay behind. */
  readonly withheld: (to: URL) => void;
  readonly signal: AbortSignal;
}

/**
 * The body of what is at a URL, at most as large as a manifest may be; certificates are verified, redirects followed.
 * Credentials go to no other host, as with Go's net/http, and unlike there not on in the clear. Throws FetchError, and
 * the signal's reason.
 */
export async function fetchManifest(
  url: URL,
  {headers: given, withheld, signal}: FetchOptions,
): Promise<Buffer> {
  let current = url;
  let headers = given;
  for (let redirects = 0; ; redirects += 1) {
    const response = await get(current, headers, signal);
    const {statusCode, headers: answered} = response;
    if (!REDIRECTS.has(statusCode) || answered.location === undefined)
      return await body(current, response, signal);
    response.destroy();
    if (redirects === MOST_REDIRECTS)
      throw failure(url, new Error(`stopped after ${MOST_REDIRECTS} redirects`));
    const next = redirected(current, answered.location);
    const isExposed = current.protocol === 'https:' && next.protocol === 'http:';
    if (isExposed && next.host === url.host && hasCredentials(headers)) withheld(next);
    if (isExposed || next.host !== url.host) headers = forOthers(headers);
    current = next;
  }
}

function hasCredentials(headers: ManifestHeaders): boolean {
  return Object.keys(headers).some(isCredential);
}

function isCredential(name: string): boolean {
  return FOR_ONE_HOST.has(name.toLowerCase());
}

function redirected(from: URL, location: string): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (to?.protocol === 'http:' || to?.protocol === 'https:') return to;
  throw failure(from, new Error('unsupported protocol scheme in the redirection'));
}

function forOthers(headers: ManifestHeaders): ManifestHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isCredential(name)));
}

/** `Get "http://host/": connect ECONNREFUSED 127.0.0.1:80`. */
function failure(url: URL, cause: unknown): FetchError {
  return new FetchError(`Get "${shownUrl(url)}": ${messageOf(cause)}`, {cause});
}

async function get(url: URL, headers: ManifestHeaders, signal: AbortSignal): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const own = Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, [...values]]));
  try {
    return await new Promise<IncomingMessage>((resolve, reject) => {
      send(url, {headers: own, agent: false, signal}, resolve).on('error', reject).end();
    });
  } catch (error) {
    throw failure(url, signal.aborted ? signal.reason : error);
  }
}

async function body(url: URL, response: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
  const {statusCode = 0} = response;
  if (statusCode !== 200) {
    response.destroy();
    throw new FetchError(`${shownUrl(url)}: ${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trimEnd());
  }
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > LARGEST_MANIFEST_BYTES) throw new Error('the read limit is reached');
      parts.push(part);
    }
  } catch (error) {
    throw failure(url, signal.aborted ? signal.reason : error);
  }
  return Buffer.concat(parts);
}
