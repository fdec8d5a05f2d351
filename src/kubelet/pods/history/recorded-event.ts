import type {PodEvent} from '../../contract/pod-event.js';

/** A recorded event, stored once with its count. */
export interface RecordedEvent extends Omit<PodEvent, 'pod'> {
  readonly count: number;
  /** Time of the first occurrence, RFC 3339; lastTimestamp has the same format. */
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
}

/** One occurrence of an event, before it is merged into the recorded events. */
export interface Occurrence extends Omit<PodEvent, 'pod'> {
  /** Time of the occurrence, in ms since the epoch. */
  readonly at: number;
}

export function createOccurrence({type, reason, message, fieldPath}: PodEvent, at: number): Occurrence {
  const text = message.slice(0, MAX_MESSAGE_LENGTH);
  return {at, type, reason, message: text, ...(fieldPath !== undefined && {fieldPath})};
}

export function isOccurrence(value: Readonly<Record<string, unknown>>): boolean {
  const {at, type, reason, message, fieldPath = ''} = value;
  return (
    typeof at === 'number' && [type, reason, message, fieldPath].every((text) => typeof text === 'string')
  );
}

/** Returns the events merged with later occurrences, in their order. */
export function mergeOccurrences(
  events: readonly RecordedEvent[],
  occurrences: readonly Occurrence[],
): readonly RecordedEvent[] {
  return occurrences.reduce((list, {at, ...event}) => correlateEvent(list, event, at), events);
}

/** Maximum number of recorded events per pod; the oldest are dropped. */
export const MAX_EVENTS = 100;
/** Maximum length of a message, in characters; longer ones are truncated. */
const MAX_MESSAGE_LENGTH = 8192;

/**
 * Number of different messages of one reason within SIMILAR_MS that are combined into one event (client-go
 * events_cache.go).
 */
const MAX_SIMILAR = 10;
const SIMILAR_MS = 600_000;
const COMBINED = '(combined from similar events): ';

/**
 * Returns the events with one more, oldest first. A repeated event increases its count, and many similar events are
 * combined, as in client-go's EventCorrelator. There is no rate limit: it would protect an API server.
 */
export function correlateEvent(
  events: readonly RecordedEvent[],
  {type, reason, message, fieldPath}: Omit<PodEvent, 'pod'>,
  nowMs: number,
): readonly RecordedEvent[] {
  const now = new Date(nowMs).toISOString();
  const text = message.slice(0, MAX_MESSAGE_LENGTH);
  const similar = events.filter((event) => event.type === type && event.reason === reason);
  const same = similar.find((event) => event.message === text && event.fieldPath === fieldPath);
  if (same !== undefined) return latest(events, same, {...same, count: same.count + 1, lastTimestamp: now});

  const fresh = {type, reason, message: text, ...(fieldPath !== undefined && {fieldPath})};
  const once = {count: 1, firstTimestamp: now, lastTimestamp: now};
  if (recentMessages(similar, nowMs) + 1 < MAX_SIMILAR) return latest(events, undefined, {...fresh, ...once});

  const combined = similar.find((event) => event.message.startsWith(COMBINED));
  const counted = combined && {...combined, count: combined.count + 1, lastTimestamp: now};
  return latest(events, combined, {...fresh, ...(counted ?? once), message: `${COMBINED}${text}`});
}

function recentMessages(similar: readonly RecordedEvent[], nowMs: number): number {
  const recent = similar.filter(
    ({message, lastTimestamp}) =>
      !message.startsWith(COMBINED) && nowMs - Date.parse(lastTimestamp) <= SIMILAR_MS,
  );
  return new Set(recent.map(({message}) => message)).size;
}

/** Moves an event to the end, in place of its previous version; drops the oldest events above MAX_EVENTS. */
function latest(
  events: readonly RecordedEvent[],
  before: RecordedEvent | undefined,
  event: RecordedEvent,
): readonly RecordedEvent[] {
  return [...events.filter((other) => other !== before), event].slice(-MAX_EVENTS);
}
