import type {VolumeEvent} from './node-volume.js';

/** Reasons of events about volumes that are not mounted. */
const FAILURES = new Set(['FailedMount', 'FailedMapVolume', 'FailedAttachVolume']);

/** Lists of names in the event about volumes that are not mounted in time, and the names after `volume`. */
const LISTS = /(?:unmounted volumes|failed to process volumes)=\[([^\]]*)\]/g;
const NAMED = /\bvolume "([^"]+)"/g;

/** Returns the events that say why a volume with one of the names is not mounted, in their order. */
export function volumeFailures<Event extends VolumeEvent>(
  events: readonly Event[],
  names: ReadonlySet<string>,
): readonly Event[] {
  return events.filter(
    ({reason, message}) => FAILURES.has(reason) && namesIn(message).some((name) => names.has(name)),
  );
}

/** Returns the names of the volumes that a message is about. */
function namesIn(message: string): readonly string[] {
  const named = [...message.matchAll(NAMED)].map(([, name = '']) => name);
  // The message about several volumes quotes the causes of others.
  const listed = [...message.matchAll(LISTS)].flatMap(([, list = '']) => list.split(/[ ,]+/));
  return listed.length > 0 ? listed.filter((name) => name !== '') : named;
}
