import {createHmac, randomBytes} from 'node:crypto';
import {anySignal} from '../../../base/async/any-signal.js';
import {createDeadline} from '../../../base/async/deadline.js';
import type {Clock} from '../../../base/clock.js';
import {hasErrno} from '../../../base/errors.js';
import {ExpiringCache} from '../../../base/expiring-cache.js';
import {isObject} from '../../../base/is-object.js';
import {ApiError, type ApiClient} from '../../../kube-api/index.js';
import {
  TooManyReviewsError,
  type AccessReviews,
  type NodeAccess,
  type User,
} from '../../contract/access-reviews.js';

/** Options of {@link ApiAccessReviews}. */
export interface ApiAccessReviewsOptions {
  readonly client: ApiClient;
  /** Time for which results of TokenReviews are used, in ms (authentication.webhook.cacheTTL). */
  readonly tokenTtlMs: number;
  /** Times for which results of SubjectAccessReviews are used, in ms (authorization.webhook). */
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  readonly clock: Clock;
  /** Signal that ends all reviews. */
  readonly signal: AbortSignal;
}

const TOKEN_REVIEW = {
  path: '/apis/authentication.k8s.io/v1/tokenreviews',
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenReview',
} as const;
const ACCESS_REVIEW = {
  path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
} as const;

/** Number of results that are stored, of each kind. Invalid tokens cannot displace valid ones. */
const MAX_CACHED = 4096;
/** Number of reviews in progress, of each kind; peers without credentials can cause TokenReviews. */
const MAX_PENDING = 32;
/** Delays between attempts, in ms (DefaultAuthWebhookRetryBackoff). */
const RETRY_DELAYS_MS = [500, 750, 1125, 1687] as const;
/** Time limit of a review with all attempts, in ms (sharedLookupTimeout). */
const LIMIT_MS = 30_000;

type ReviewType = typeof TOKEN_REVIEW | typeof ACCESS_REVIEW;

/**
 * TokenReviews and SubjectAccessReviews by the API server. Results are stored for a time, errors are not; equal reviews
 * at the same time share a request, and their number is limited.
 */
export class ApiAccessReviews implements AccessReviews {
  readonly #options: ApiAccessReviewsOptions;
  readonly #users: ExpiringCache<User>;
  readonly #invalidTokens: ExpiringCache<true>;
  readonly #decisions: ExpiringCache<boolean>;
  readonly #pendingTokens = new SharedCalls<User | undefined>(MAX_PENDING);
  readonly #pendingAccess = new SharedCalls<boolean>(MAX_PENDING);
  /** Key of the hashes under which tokens are stored, so that no token stays in memory. */
  readonly #hashKey = randomBytes(32);

  constructor(options: ApiAccessReviewsOptions) {
    const {clock} = options;
    this.#options = options;
    this.#users = new ExpiringCache(MAX_CACHED, clock);
    this.#invalidTokens = new ExpiringCache(MAX_CACHED, clock);
    this.#decisions = new ExpiringCache(MAX_CACHED, clock);
  }

  async reviewToken(token: string): Promise<User | undefined> {
    const key = createHmac('sha256', this.#hashKey).update(token).digest('base64');
    const known = this.#users.get(key);
    if (known !== undefined || this.#invalidTokens.get(key) === true) return known;
    return await this.#pendingTokens.call(key, async () => {
      const {tokenTtlMs} = this.#options;
      const user = userOf(await this.#create(TOKEN_REVIEW, {token}));
      if (user === undefined) this.#invalidTokens.set(key, true, tokenTtlMs);
      else this.#users.set(key, user, tokenTtlMs);
      return user;
    });
  }

  async reviewAccess({user, verb, nodeName, subresource}: NodeAccess): Promise<boolean> {
    const {name, uid, groups, extra} = user;
    const spec = {
      resourceAttributes: {verb, version: 'v1', resource: 'nodes', subresource, name: nodeName},
      user: name,
      groups,
      ...(extra !== undefined && {extra}),
      ...(uid !== undefined && {uid}),
    };
    const key = JSON.stringify(spec);
    return (
      this.#decisions.get(key) ??
      (await this.#pendingAccess.call(key, async () => {
        const {authorizedTtlMs, unauthorizedTtlMs} = this.#options;
        const isAllowed = isAccessAllowed(await this.#create(ACCESS_REVIEW, spec));
        this.#decisions.set(key, isAllowed, isAllowed ? authorizedTtlMs : unauthorizedTtlMs);
        return isAllowed;
      }))
    );
  }

  /** Resolves with the status of a review, after repeated attempts if the server is overloaded. */
  async #create({path, ...type}: ReviewType, spec: object): Promise<Readonly<Record<string, unknown>>> {
    const {client, clock, signal} = this.#options;
    using deadline = createDeadline(
      clock,
      LIMIT_MS,
      () => new Error(`no review within ${LIMIT_MS / 1000} s`),
    );
    using either = anySignal(signal, deadline.signal);
    const limited = either.signal;
    const request = {method: 'POST', path, body: {...type, metadata: {}, spec}} as const;
    for (const delayMs of RETRY_DELAYS_MS) {
      try {
        return statusOf(await client.request(request, limited));
      } catch (error) {
        if (limited.aborted || !isTransient(error)) throw error;
      }
      await clock.sleep(delayMs, limited);
    }
    return statusOf(await client.request(request, limited));
  }
}

/** Reports whether another attempt may succeed (webhook.DefaultShouldRetry). */
function isTransient(error: unknown): boolean {
  if (error instanceof ApiError) return error.code === 429 || error.code === 500 || error.code === 504;
  return hasErrno(error, 'ECONNRESET');
}

function statusOf(review: unknown): Readonly<Record<string, unknown>> {
  const status = isObject(review) ? review['status'] : undefined;
  if (!isObject(status)) throw new Error('the API server sent a review without status');
  return status;
}

/** Returns the user of a TokenReview; undefined if the token is not valid. Throws for an invalid answer. */
function userOf({authenticated, user}: Readonly<Record<string, unknown>>): User | undefined {
  if (authenticated !== true) return undefined;
  if (!isObject(user) || typeof user['username'] !== 'string')
    throw new Error('the API server sent a TokenReview without user name');
  const {username: name, uid, groups = [], extra} = user;
  return {
    name,
    groups: stringsOf(groups),
    ...(typeof uid === 'string' && uid !== '' && {uid}),
    ...(isObject(extra) && {
      extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, stringsOf(values)])),
    }),
  };
}

/** Reports whether a SubjectAccessReview allows the request; denied takes precedence. */
function isAccessAllowed({allowed, denied}: Readonly<Record<string, unknown>>): boolean {
  return allowed === true && denied !== true;
}

function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Calls in progress, shared among callers with the same key, up to a number. */
class SharedCalls<T> {
  readonly #calls = new Map<string, Promise<T>>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** Joins the call in progress or starts one. Rejects with TooManyReviewsError, and like the call. */
  async call(key: string, start: () => Promise<T>): Promise<T> {
    const pending = this.#calls.get(key);
    if (pending !== undefined) return await pending;
    if (this.#calls.size >= this.#most) throw new TooManyReviewsError();
    const started = start().finally(() => this.#calls.delete(key));
    this.#calls.set(key, started);
    return await started;
  }
}
