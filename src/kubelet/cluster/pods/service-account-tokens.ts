import type {Pod} from '../../../api/types/v1-pod.js';
import type {ServiceAccountTokenProjection} from '../../../api/types/v1-volumes.js';
import type {Clock} from '../../../base/clock.js';
import {messageOf, rethrowUnexpected, SystemError} from '../../../base/errors.js';
import {isObject} from '../../../base/is-object.js';
import type {ApiClient} from '../../../kube-api/index.js';
import {formatRfc3339Seconds} from '../../../format/time.js';
import {podRef} from '../../contract/pod-ref.js';

/** A token and the time from which on it is renewed, in ms since the epoch. */
interface CachedToken {
  readonly token: string;
  readonly refreshAt: number;
  readonly expiresAt: number;
}

/** Default lifetime of a token, in seconds. */
const DEFAULT_EXPIRATION_SECONDS = 3600;
/** Share of its lifetime after which a token is renewed, and the longest use of one (requiresRefresh). */
const REFRESH_SHARE = 0.8;
const MAX_USE_MS = 24 * 3600 * 1000;

/** Requests and caches the service account tokens of pods (token.Manager). */
export class ServiceAccountTokens {
  readonly #client: ApiClient;
  readonly #clock: Clock;
  readonly #tokens = new Map<string, CachedToken>();
  /** Failures of the last requests. */
  readonly #failures = new Map<string, unknown>();

  constructor(client: ApiClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * Returns the last token of a projection; undefined before it was loaded. Throws SystemError if it could not be
   * requested, with the message of the kubelet's FailedMount events.
   */
  get(pod: Pod, projection: ServiceAccountTokenProjection): string | undefined {
    const key = keyOf(pod, projection);
    const cause = this.#failures.get(key);
    if (cause !== undefined)
      throw new SystemError(`failed to fetch token: ${messageOf(cause)}`, {cause, hint: undefined});
    return this.#tokens.get(key)?.token;
  }

  /**
   * Returns the last token of a projection and when it expires, as a CSI driver gets them. Throws SystemError like `get`, and
   * before the token was loaded.
   */
  status(
    pod: Pod,
    projection: ServiceAccountTokenProjection,
  ): {readonly token: string; readonly expirationTimestamp: string} {
    const token = this.get(pod, projection);
    const expiresAt = this.#tokens.get(keyOf(pod, projection))?.expiresAt;
    if (token === undefined || expiresAt === undefined)
      throw new SystemError('failed to fetch token: it was not requested');
    return {token, expirationTimestamp: formatRfc3339Seconds(expiresAt)};
  }

  /**
   * Requests the token of a projection unless the last one is recent. A token that cannot be renewed is used until it
   * expires; without one, `get` throws. Rejects with the signal's reason and programming errors.
   */
  async load(pod: Pod, projection: ServiceAccountTokenProjection, signal: AbortSignal): Promise<void> {
    const key = keyOf(pod, projection);
    const now = this.#clock.now();
    const known = this.#tokens.get(key);
    if (known !== undefined && now < known.refreshAt) return;
    try {
      this.#tokens.set(key, await this.#request(pod, projection, signal));
      this.#failures.delete(key);
    } catch (error) {
      signal.throwIfAborted();
      rethrowUnexpected(error);
      if (known === undefined || now >= known.expiresAt) this.#failures.set(key, error);
    }
  }

  /** Forgets the tokens of pods for which `keep` returns false. */
  retain(keep: (uid: string) => boolean): void {
    for (const map of [this.#tokens, this.#failures])
      for (const key of map.keys()) if (!keep(key.slice(0, key.indexOf(' ')))) map.delete(key);
  }

  async #request(
    pod: Pod,
    {audience, expirationSeconds = DEFAULT_EXPIRATION_SECONDS}: ServiceAccountTokenProjection,
    signal: AbortSignal,
  ): Promise<CachedToken> {
    const {uid, namespace, name} = podRef(pod);
    const account = pod.spec.serviceAccountName ?? 'default';
    const hasAudience = audience !== undefined && audience !== '';
    const requestedAt = this.#clock.now();
    const response = await this.#client.request(
      {
        method: 'POST',
        path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
        body: {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          metadata: {},
          spec: {
            audiences: hasAudience ? [audience] : null,
            expirationSeconds,
            boundObjectRef: {kind: 'Pod', apiVersion: 'v1', name, uid},
          },
        },
      },
      signal,
    );
    const {token, expiresAt} = readTokenRequest(response);
    const lifetimeMs = Math.min((expiresAt - requestedAt) * REFRESH_SHARE, MAX_USE_MS);
    return {token, expiresAt, refreshAt: requestedAt + lifetimeMs};
  }
}

/** Returns token and expiry of a TokenRequest. Throws SystemError, whose message has nothing of the token. */
function readTokenRequest(response: unknown): Pick<CachedToken, 'token' | 'expiresAt'> {
  const status = isObject(response) ? response['status'] : undefined;
  const {token, expirationTimestamp} = isObject(status) ? status : {};
  const expiresAt = typeof expirationTimestamp === 'string' ? Date.parse(expirationTimestamp) : Number.NaN;
  if (typeof token !== 'string' || token === '' || Number.isNaN(expiresAt))
    throw new SystemError('the API server sent a TokenRequest without token or expiry');
  return {token, expiresAt};
}

function keyOf(pod: Pod, {audience = '', expirationSeconds = 0}: ServiceAccountTokenProjection): string {
  return `${podRef(pod).uid} ${JSON.stringify([pod.spec.serviceAccountName, audience, expirationSeconds])}`;
}
