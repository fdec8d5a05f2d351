import {request as httpRequest, STATUS_CODES, type IncomingMessage} from 'node:http';
import {request as httpsRequest} from 'node:https';
import {MAX_MANIFEST_BYTES} from '../../api/manifest/parse-manifest.js';
import {ConfigError, messageOf} from '../../base/errors.js';
import {redactUrl} from '../../format/redact-url.js';

/** Request headers for manifests (--manifest-url-header), by name; values may be secret. */
export type ManifestHeaders = Readonly<Record<string, readonly string[]>>;

/** Error of a failed manifest request. The message is worded like that of Go's net/http. */
export class ManifestFetchError extends ConfigError {}

const MAX_REDIRECTS = 10;
const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308]);
/** Headers that are not sent to another host (net/http shouldCopyHeaderOnRedirect). */
const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'cookie2',
  'www-authenticate',
]);

/** Options of {@link fetchManifest}. */
export interface FetchManifestOptions {
  readonly headers: ManifestHeaders;
  /** Called for a redirect from https to http on which credentials are removed. */
  readonly onCredentialsWithheld: (to: URL) => void;
  readonly signal: AbortSignal;
}

/**
 * Fetches the body at a URL, up to the maximum size of a manifest. Verifies certificates and follows redirects. Removes
 * credentials at redirects to another host, like Go's net/http, and also at redirects from https to http. Rejects with
 * ManifestFetchError.
 */
export async function fetchManifest(
  url: URL,
  {headers: initialHeaders, onCredentialsWithheld, signal}: FetchManifestOptions,
): Promise<Buffer> {
  let current = url;
  let headers = initialHeaders;
  for (let redirects = 0; ; redirects += 1) {
    const response = await get(current, headers, signal);
    const {statusCode, headers: responseHeaders} = response;
    if (!REDIRECTS.has(statusCode) || responseHeaders.location === undefined)
      return await readBody(current, response, signal);
    response.destroy();
    if (redirects === MAX_REDIRECTS)
      throw createFetchError(url, new Error(`stopped after ${MAX_REDIRECTS} redirects`));
    const next = resolveRedirect(current, responseHeaders.location);
    const isDowngrade = current.protocol === 'https:' && next.protocol === 'http:';
    if (isDowngrade && next.host === url.host && hasCredentials(headers)) onCredentialsWithheld(next);
    if (isDowngrade || next.host !== url.host) headers = withoutCredentials(headers);
    current = next;
  }
}

function hasCredentials(headers: ManifestHeaders): boolean {
  return Object.keys(headers).some(isCredential);
}

function isCredential(name: string): boolean {
  return CREDENTIAL_HEADERS.has(name.toLowerCase());
}

function resolveRedirect(from: URL, location: string): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (to?.protocol === 'http:' || to?.protocol === 'https:') return to;
  throw createFetchError(from, new Error('unsupported protocol scheme in redirect'));
}

function withoutCredentials(headers: ManifestHeaders): ManifestHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isCredential(name)));
}

/** Returns an error such as `Get "http://host/": connect ECONNREFUSED 127.0.0.1:80`. */
function createFetchError(url: URL, cause: unknown): ManifestFetchError {
  return new ManifestFetchError(`Get "${redactUrl(url)}": ${messageOf(cause)}`, {cause});
}

async function get(url: URL, headers: ManifestHeaders, signal: AbortSignal): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const copy = Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, [...values]]));
  try {
    return await new Promise<IncomingMessage>((resolve, reject) => {
      send(url, {headers: copy, agent: false, signal}, resolve).on('error', reject).end();
    });
  } catch (error) {
    throw createFetchError(url, signal.aborted ? signal.reason : error);
  }
}

async function readBody(url: URL, response: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
  const {statusCode = 0} = response;
  if (statusCode !== 200) {
    response.destroy();
    throw new ManifestFetchError(
      `${redactUrl(url)}: ${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trimEnd(),
    );
  }
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > MAX_MANIFEST_BYTES) throw new Error('the read limit is reached');
      parts.push(part);
    }
  } catch (error) {
    throw createFetchError(url, signal.aborted ? signal.reason : error);
  }
  return Buffer.concat(parts);
}
