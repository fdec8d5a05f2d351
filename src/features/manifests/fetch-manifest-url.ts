import {anySignal} from '../../base/async/any-signal.js';
import {createDeadline} from '../../base/async/deadline.js';
import type {Clock} from '../../base/clock.js';
import {ConfigError, messageOf} from '../../base/errors.js';
import {decodeUtf8} from '../../base/fs/read-text-file.js';
import {redactUrl, redactUrlText} from '../../format/redact-url.js';
import type {FetchManifestText} from '../../operations/manifests/read-manifests.js';

/** Maximum duration of a request with its redirects, in ms. */
const TIMEOUT_MS = 30_000;
const HTML = /^\s*<(?:!doctype|html|head|\?xml)/i;

/** Options of createManifestFetcher. */
export interface ManifestFetcherOptions {
  readonly clock: Clock;
  readonly warn: (message: string) => void;
}

/**
 * Returns a function that reads a manifest from a URL: up to the maximum size of a manifest, within 30 seconds, with
 * verified certificates. It rejects with ConfigError; URLs in errors have no credentials.
 */
export function createManifestFetcher({clock, warn}: ManifestFetcherOptions): FetchManifestText {
  return async (source, signal) => {
    const shown = redactUrlText(source);
    if (!URL.canParse(source)) throw new ConfigError(`invalid URL "${shown}"`);
    const {fetchManifest} = await import('../../kubelet/index.js');
    using limit = createDeadline(
      clock,
      TIMEOUT_MS,
      () => new Error(`no answer within ${TIMEOUT_MS / 1000}s`),
    );
    const onCredentialsWithheld = (to: URL): void => {
      warn(`credentials are not sent to "${redactUrl(to)}": the URL redirects from https to http`);
    };
    using either = anySignal(signal, limit.signal);
    const options = {headers: {}, onCredentialsWithheld, signal: either.signal};
    const body = await fetchManifest(new URL(source), options).catch((error: unknown) => {
      signal.throwIfAborted();
      throw createFetchFailure(shown, error);
    });
    return {file: shown, text: checkContent(decodeUtf8(body, shown), shown)};
  };
}

function checkContent(text: string, url: string): string {
  if (text.trim() === '') throw new ConfigError(`"${url}" is empty`);
  if (!HTML.test(text)) return text;
  throw new ConfigError(`"${url}" is a web page, not a manifest`, {
    hint: /^https:\/\/(?:www\.)?git(?:hub|lab)\./.test(url)
      ? 'use the URL of the raw file'
      : 'use the URL from which the browser downloads the file',
  });
}

function createFetchFailure(url: string, error: unknown): ConfigError {
  const message = messageOf(error);
  // The message may begin with the URL, in net/http's form.
  const cause = message.replace(/^(?:Get )?"?https?:\S+?"?: /, '');
  return new ConfigError(`cannot read manifest "${url}": ${cause}`, {cause: error, hint: hintFor(cause)});
}

function hintFor(cause: string): string {
  if (/certificate|self.signed|issuer/i.test(cause))
    return 'set NODE_EXTRA_CA_CERTS to a file with the certificate authority of the server';
  if (/^40[13]\b/.test(cause)) return 'log in with another program and pass its output: curl … | kcri sync -';
  if (/^404\b/.test(cause)) return 'check the URL; some servers answer 404 for private files';
  return 'check the URL and the network, or download the file with another program and pass it';
}
