import {TokenBucket} from '../../../base/async/token-bucket.js';
import type {Clock} from '../../../base/clock.js';
import {formatRfc3339Seconds} from '../../../format/time.js';
import type {ObjectEvent, ObjectReference} from './object-event.js';

/** An Event as the API server stores it (core/v1 Event). */
export interface ApiEvent {
  readonly apiVersion: 'v1';
  readonly kind: 'Event';
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly involvedObject: ObjectReference;
  readonly reason: string;
  readonly message: string;
  readonly source: {readonly component: string; readonly host: string};
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly count: number;
  readonly type: string;
  readonly eventTime: null;
  readonly reportingComponent: string;
  readonly reportingInstance: string;
}

/** An Event to send: a new one, or one more occurrence of a known one, which only changes these fields. */
export interface CorrelatedEvent {
  readonly event: ApiEvent;
  readonly patch: Pick<ApiEvent, 'count' | 'lastTimestamp'> | undefined;
}

/** Events of one object and type at once, and per second after that (defaultSpamBurst, defaultSpamQPS). */
const SPAM = {burst: 25, perSecond: 1 / 300};
/** Number of similar events with different messages that are sent alone, and the time in which they count, in ms. */
const MAX_SIMILAR = 10;
const SIMILAR_MS = 600_000;
const COMBINED = '(combined from similar events): ';
/** Number of keys that are remembered of each kind (maxLruCacheEntries). */
const MAX_KEYS = 4096;
const COMPONENT = 'kubelet';
const NANOS_PER_MS = 1_000_000n;

interface SimilarEvents {
  readonly messages: Set<string>;
  lastAt: number;
}

/**
 * Counts repeated events, combines similar ones and drops those of an object that has too many (client-go
 * EventCorrelator).
 */
export class EventCorrelator {
  readonly #host: string;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #similar = new Map<string, SimilarEvents>();
  readonly #known = new Map<string, ApiEvent>();
  #names = 0n;

  constructor(host: string, clock: Clock) {
    this.#host = host;
    this.#clock = clock;
  }

  /** Returns the event to send; undefined if it is dropped. */
  correlate(event: ObjectEvent): CorrelatedEvent | undefined {
    const {type, reason, object} = event;
    const {kind, uid, fieldPath = ''} = object;
    const id = `${kind} ${uid}`;
    const bucket = remember(this.#buckets, `${id} ${type}`, () => new TokenBucket(SPAM, this.#clock));
    const combined = this.#combine(`${id} ${type} ${reason}`, event.message);
    if (!bucket.tryTake()) return undefined;
    const message = combined ? `${COMBINED}${event.message}` : event.message;
    const key = JSON.stringify([id, type, reason, ...(combined ? [] : [fieldPath, message])]);
    return this.#count(key, this.#create(event, message));
  }

  /** Reports whether there were too many different messages of similar events (EventAggregate). */
  #combine(key: string, message: string): boolean {
    const now = this.#clock.now();
    const similar = remember(this.#similar, key, (): SimilarEvents => ({messages: new Set(), lastAt: now}));
    if (now - similar.lastAt > SIMILAR_MS) similar.messages.clear();
    similar.lastAt = now;
    similar.messages.add(message);
    if (similar.messages.size < MAX_SIMILAR) return false;
    const [oldest] = similar.messages;
    if (similar.messages.size > MAX_SIMILAR && oldest !== undefined) similar.messages.delete(oldest);
    return true;
  }

  #count(key: string, event: ApiEvent): CorrelatedEvent {
    const known = this.#known.get(key);
    if (known === undefined) {
      remember(this.#known, key, () => event);
      return {event, patch: undefined};
    }
    const patch = {
      count: known.count + 1,
      lastTimestamp: event.lastTimestamp,
      ...(known.message !== event.message && {message: event.message}),
    };
    const next = {...known, ...patch};
    this.#known.set(key, next);
    return {event: next, patch};
  }

  #create({type, reason, object, annotations}: ObjectEvent, message: string): ApiEvent {
    const {name: about, namespace = 'default'} = object;
    const now = this.#clock.now();
    const time = formatRfc3339Seconds(now);
    this.#names += 1n;
    const name = `${about}.${(BigInt(now) * NANOS_PER_MS + this.#names).toString(16)}`;
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: {name, namespace, ...(annotations && {annotations})},
      involvedObject: object,
      reason,
      message,
      source: {component: COMPONENT, host: this.#host},
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
      type,
      eventTime: null,
      reportingComponent: COMPONENT,
      reportingInstance: this.#host,
    };
  }
}

/** Returns the value of a key, creating it if necessary; forgets the oldest key if there are too many. */
function remember<V>(values: Map<string, V>, key: string, create: () => V): V {
  const value = values.get(key) ?? create();
  values.delete(key);
  values.set(key, value);
  const [oldest] = values.keys();
  if (values.size > MAX_KEYS && oldest !== undefined) values.delete(oldest);
  return value;
}
