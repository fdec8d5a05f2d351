import {parseDuration} from '../../format/duration.js';
import {shorten} from '../../base/shorten.js';
import type {RecordedEvent} from '../../kubelet/index.js';
import type {Phase} from './phase.js';
import {parseMs, type PodFacts} from './pod-facts.js';

/** Maximum length of a message in a note, in characters. */
const LONGEST_NOTE = 160;
/** The message about a pulled image, with the duration of the pull (image_manager.go). */
const PULLED = /^Successfully pulled image "([^"]+)" in (\S+) \(/;
/** The message about an image whose pull begins. */
const PULLING = /^Pulling image "([^"]+)"/;
/** Container of an event's field path. */
const CONTAINER_PATH = /^spec\.(?:initContainers|containers|ephemeralContainers)\{(.+)\}$/;

/** Returns what follows from the recorded events of a pod. Pure. */
export function eventPhases({events}: PodFacts): readonly Phase[] {
  const pulled = new Set(events.flatMap(({message}) => PULLED.exec(message)?.[1] ?? []));
  return events.flatMap((event): readonly Phase[] => {
    if (event.type === 'Warning') return failure(event);
    return event.reason === 'Pulled' ? pull(event) : openPull(event, pulled);
  });
}

function pull({message, lastTimestamp}: RecordedEvent): readonly Phase[] {
  const [, image, text = ''] = PULLED.exec(message) ?? [];
  const endMs = parseMs(lastTimestamp);
  const nanos = parseDuration(text);
  if (image === undefined || endMs === undefined || nanos === undefined) return [];
  return [{name: 'pull', subject: image, startMs: endMs - Number(nanos) / 1e6, endMs, source: 'events'}];
}

/** Returns the pull of an image that no event says to have ended. */
function openPull(
  {message, reason, lastTimestamp}: RecordedEvent,
  pulled: ReadonlySet<string>,
): readonly Phase[] {
  const image = reason === 'Pulling' ? PULLING.exec(message)?.[1] : undefined;
  const startMs = parseMs(lastTimestamp);
  if (image === undefined || startMs === undefined || pulled.has(image)) return [];
  const inferred = 'no event says that the pull has ended';
  return [{name: 'pull', subject: image, startMs, source: 'events', inferred}];
}

/** Returns the time in which a warning was repeated. */
function failure({reason, message, count, firstTimestamp, lastTimestamp, fieldPath = ''}: RecordedEvent) {
  const startMs = parseMs(firstTimestamp);
  const endMs = parseMs(lastTimestamp);
  if (startMs === undefined || endMs === undefined) return [];
  const container = CONTAINER_PATH.exec(fieldPath)?.[1];
  const times = count > 1 ? `${count} times: ` : '';
  return [
    {
      ...({name: 'failure', startMs, endMs, source: 'events', isFailed: true} as const),
      subject: container === undefined ? reason : `${reason} ${container}`,
      note: shorten(`${times}${message}`, LONGEST_NOTE),
    },
  ];
}
