import {createHash, randomBytes, timingSafeEqual} from 'node:crypto';
import type {Clock} from '../../../base/clock.js';

/** Entropy of tokens and keys, in bytes. */
const SECRET_BYTES = 32;
/** Time in which the token of a link can be used, in ms. */
export const TOKEN_LIFETIME_MS = 15 * 60_000;
/** Time after which a session that is not used ends, in ms. */
export const SESSION_IDLE_MS = 12 * 60 * 60_000;
/** Number of links and of sessions that exist at once; a new one replaces the oldest. */
const MAX_TOKENS = 8;
export const MAX_SESSIONS = 32;

interface Entry {
  /** SHA-256 of the secret: all have the same length, and the secrets themselves are not stored. */
  readonly digest: Buffer;
  endsAtMs: number;
}

/**
 * One-time tokens of links, and the keys of the sessions that they were exchanged for. Secrets are compared in constant
 * time.
 */
export class Sessions {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #tokens: readonly Entry[] = [];
  #sessions: readonly Entry[] = [];

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Returns a new token, which can be redeemed once within its lifetime. */
  createToken(): string {
    const {secret, entry} = this.#create(TOKEN_LIFETIME_MS);
    this.#tokens = [...this.#live(this.#tokens), entry].slice(-MAX_TOKENS);
    return secret;
  }

  /** Returns the key of a new session; undefined if the token is unknown, used or expired. */
  redeem(token: string): string | undefined {
    const live = this.#live(this.#tokens);
    const found = find(live, token);
    if (found === undefined) return undefined;
    this.#tokens = live.filter((each) => each !== found);
    const {secret, entry} = this.#create(SESSION_IDLE_MS);
    this.#sessions = [...this.#live(this.#sessions), entry].slice(-MAX_SESSIONS);
    return secret;
  }

  /** Reports whether a key is that of a session, and continues the session. */
  use(key: string): boolean {
    this.#sessions = this.#live(this.#sessions);
    const found = find(this.#sessions, key);
    if (found === undefined) return false;
    found.endsAtMs = this.#clock.monotonic() + SESSION_IDLE_MS;
    // The session that was not used the longest comes first, and is replaced first.
    this.#sessions = [...this.#sessions.filter((each) => each !== found), found];
    return true;
  }

  #create(lifetimeMs: number): {readonly secret: string; readonly entry: Entry} {
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    return {secret, entry: {digest: digestOf(secret), endsAtMs: this.#clock.monotonic() + lifetimeMs}};
  }

  #live(entries: readonly Entry[]): readonly Entry[] {
    const nowMs = this.#clock.monotonic();
    return entries.filter(({endsAtMs}) => endsAtMs > nowMs);
  }
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Returns the entry of a secret. Takes the same time wherever and whether it is found. */
function find(entries: readonly Entry[], secret: string): Entry | undefined {
  const digest = digestOf(secret);
  let found: Entry | undefined;
  for (const entry of entries) if (timingSafeEqual(entry.digest, digest)) found = entry;
  return found;
}
