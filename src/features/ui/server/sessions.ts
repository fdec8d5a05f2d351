import {createHash, randomBytes, timingSafeEqual} from 'node:crypto';
import {setMaxListeners} from 'node:events';
import type {Clock} from '../../../base/clock.js';
import {RequestError} from './request-error.js';

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

interface SessionEntry extends Entry {
  /** Number of requests that are being answered. */
  running: number;
  readonly end: AbortController;
}

/** Use of a session by a request, which ends when it is disposed of. */
export interface SessionUse extends Disposable {
  /** Aborts with RequestError 401 when the session ends. */
  readonly signal: AbortSignal;
}

/** Returns the error of a request whose session does not exist any more. */
export function sessionEnded(): RequestError {
  return new RequestError(401, 'the session has ended', 'open a new link of kcri ui');
}

/**
 * One-time tokens of links, and the keys of the sessions that they were exchanged for. Secrets are compared in constant
 * time.
 */
export class Sessions {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #tokens: readonly Entry[] = [];
  /** Those that were not used the longest come first. */
  #sessions: readonly SessionEntry[] = [];

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
    const end = new AbortController();
    // All requests of the session listen to it.
    setMaxListeners(0, end.signal);
    const sessions = this.#liveSessions();
    if (sessions.length >= MAX_SESSIONS) this.#replaced(sessions)?.end.abort(sessionEnded());
    this.#sessions = [...this.#liveSessions(), {...entry, running: 0, end}];
    return secret;
  }

  /** Continues the session of a key as long as a request uses it, and for its idle time; undefined without one. */
  use(key: string): SessionUse | undefined {
    this.#sessions = this.#liveSessions();
    const found = find(this.#sessions, key);
    if (found === undefined) return undefined;
    found.running += 1;
    this.#touch(found);
    return {
      signal: found.end.signal,
      [Symbol.dispose]: () => {
        found.running -= 1;
        this.#touch(found);
      },
    };
  }

  #touch(session: SessionEntry): void {
    session.endsAtMs = this.#clock.monotonic() + SESSION_IDLE_MS;
    this.#sessions = [...this.#sessions.filter((each) => each !== session), session];
  }

  /** Returns the session that a new one replaces: the one that was not used the longest. */
  #replaced(sessions: readonly SessionEntry[]): SessionEntry | undefined {
    return sessions.find(({running}) => running === 0) ?? sessions[0];
  }

  /** Sessions that are used, such as by a stream, or whose idle time is not over. */
  #liveSessions(): readonly SessionEntry[] {
    const nowMs = this.#clock.monotonic();
    return this.#sessions.filter(
      ({running, endsAtMs, end}) => !end.signal.aborted && (running > 0 || endsAtMs > nowMs),
    );
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
function find<Found extends Entry>(entries: readonly Found[], secret: string): Found | undefined {
  const digest = digestOf(secret);
  let found: Found | undefined;
  for (const entry of entries) if (timingSafeEqual(entry.digest, digest)) found = entry;
  return found;
}
