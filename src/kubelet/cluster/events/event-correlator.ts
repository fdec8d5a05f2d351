import {randomUUID} from 'node:crypto';
import {checkDnsSubdomain} from '../../../api/validation/validate-names.js';
import {TokenBucket} from '../../../base/async/token-bucket.js';
import type {Clock, RandomSource} from '../../../base/clock.js';
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
  readonly patch: Pick<ApiEvent, 'count' | 'lastTimestamp' | 'message'> | undefined;
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
  readonly lastAt: number;
}

/** Record of an event: its name, first time and number of occurrences (eventLog). */
type EventLog = Pick<ApiEvent, 'count' | 'firstTimestamp'> & {readonly name: string};

/** Options of {@link EventCorrelator}. */
export interface EventCorrelatorOptions {
  /** Name of the node. */
  readonly host: string;
  readonly clock: Clock;
  readonly random: RandomSource;
}

/**
 * Counts repeated events, combines similar ones and drops those of an object that has too many (client-go
 * EventCorrelator).
 */
export class EventCorrelator {
  readonly #host: string;
  readonly #clock: Clock;
  readonly #random: RandomSource;
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #similar = new Map<string, SimilarEvents>();
  readonly #known = new Map<string, EventLog>();
  #names = 0n;

  constructor({host, clock, random}: EventCorrelatorOptions) {
    this.#host = host;
    this.#clock = clock;
    this.#random = random;
  }

  /** Returns the event to send; undefined if it is dropped. `at` is the time at which it happened. */
  correlate(event: ObjectEvent, at: number): CorrelatedEvent | undefined {
    const {type, reason, message, object} = event;
    const {kind, uid, name, namespace, fieldPath} = object;
    const spamKey = [kind, namespace, name, uid, type];
    const similarKey = [...spamKey, reason];
    const combined = this.#combine(JSON.stringify(similarKey), message);
    const key = combined ? similarKey : [...similarKey, fieldPath, message];
    // Dropped events are counted too: the next one that is sent has the true count.
    const observed = this.#count(JSON.stringify(key), this.#create(event, {at, combined}));
    const createBucket = (): TokenBucket => new TokenBucket(SPAM, this.#clock);
    const bucket = remember(this.#buckets, JSON.stringify(spamKey), createBucket);
    return bucket.tryTake() ? observed : undefined;
  }

  /** Reports whether there were too many different messages of similar events (EventAggregate). */
  #combine(key: string, message: string): boolean {
    const now = this.#clock.monotonic();
    const {messages, lastAt} = remember(this.#similar, key, (): SimilarEvents => ({
      messages: new Set(),
      lastAt: now,
    }));
    if (now - lastAt > SIMILAR_MS) messages.clear();
    this.#similar.set(key, {messages, lastAt: now});
    messages.add(message);
    if (messages.size < MAX_SIMILAR) return false;
    // Any of them, so that most of the messages that are repeated keep events of their own.
    const forgotten = [...messages][Math.floor((this.#random() / 2 ** 32) * messages.size)];
    if (forgotten !== undefined) messages.delete(forgotten);
    return true;
  }

  /** Turns an event into an update of a known one, if there is one (eventObserve). */
  #count(key: string, created: ApiEvent): CorrelatedEvent {
    const {count, firstTimestamp, metadata} = created;
    const first = {count, firstTimestamp, name: metadata.name};
    const known = remember(this.#known, key, () => first);
    if (known === first) return {event: created, patch: undefined};
    const log = {...known, count: known.count + 1};
    this.#known.set(key, log);
    const event = {
      ...created,
      metadata: {...metadata, name: log.name},
      firstTimestamp: log.firstTimestamp,
      count: log.count,
    };
    const {lastTimestamp, message} = event;
    return {event, patch: {count: log.count, lastTimestamp, message}};
  }

  /** Creates an event. One that stands for similar ones has no annotations and no reporter. */
  #create(
    {type, reason, message, object, annotations}: ObjectEvent,
    {at, combined}: {readonly at: number; readonly combined: boolean},
  ): ApiEvent {
    const atOrNow = combined ? this.#clock.now() : at;
    const time = formatRfc3339Seconds(atOrNow);
    const own = !combined && annotations !== undefined ? {annotations} : {};
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: {name: this.#name(object.name, atOrNow), namespace: object.namespace ?? 'default', ...own},
      involvedObject: object,
      reason,
      message: combined ? `${COMBINED}${message}` : message,
      source: {component: COMPONENT, host: this.#host},
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
      type,
      eventTime: null,
      reportingComponent: combined ? '' : COMPONENT,
      reportingInstance: combined ? '' : this.#host,
    };
  }

  /** Returns a new name; a UUID if the name of the object leaves no room for the time (GenerateEventName). */
  #name(about: string, at: number): string {
    this.#names += 1n;
    const name = `${about}.${(BigInt(at) * NANOS_PER_MS + this.#names).toString(16)}`;
    return checkDnsSubdomain(name).length === 0 ? name : randomUUID();
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
