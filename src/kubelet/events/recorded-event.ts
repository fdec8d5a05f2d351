import type {PodEvent} from '../container/events.js';

/** An event as it is kept: once, however often it happened. */
export interface RecordedEvent extends Omit<PodEvent, 'pod'> {
  readonly count: number;
  /** RFC 3339, as the next. */
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
}

/** One time that an event happened, as it is taken down at first. */
export interface Occurrence extends Omit<PodEvent, 'pod'> {
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export function occurrenceOf({type, reason, message, fieldPath}: PodEvent, at: number): Occurrence {
  const text = message.slice(0, MAX_MESSAGE_LENGTH);
  return {at, type, reason, message: text, ...(fieldPath !== undefined && {fieldPath})};
}

export function isOccurrence(value: Readonly<Record<string, unknown>>): boolean {
  const {at, type, reason, message, fieldPath = ''} = value;
  return (
    typeof at === 'number' && [type, reason, message, fieldPath].every((text) => typeof text === 'string')
  );
}

/** The events with others that happened since, in their order. */
export function withOccurrences(
  events: readonly RecordedEvent[],
  occurrences: readonly Occurrence[],
): readonly RecordedEvent[] {
  return occurrences.reduce((list, {at, ...event}) => correlate(list, event, at), events);
}

/** How many events of a pod are kept: those that happened last. */
export const MAX_EVENTS = 100;
/** How much of a message is kept, in characters. */
const MAX_MESSAGE_LENGTH = 8192;

/** So many different messages of one reason within that time become one event (client-go events_cache.go). */
const MAX_SIMILAR = 10;
const SIMILAR_MS = 600_000;
const COMBINED = '(combined from similar events): ';

/**
 * The events with one more: the same one again counts up, and many similar ones become one, as client-go's
 * EventCorrelator has it. Its rate limit is left out: that protects an API server. Oldest first.
 */
export function correlate(
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

/** What happened last stands last; the first of too many go. */
function latest(
  events: readonly RecordedEvent[],
  before: RecordedEvent | undefined,
  event: RecordedEvent,
): readonly RecordedEvent[] {
  return [...events.filter((other) => other !== before), event].slice(-MAX_EVENTS);
}
