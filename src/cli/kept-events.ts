import type {Clock} from '../base/clock.js';
import {PodHistories, PodStore} from '../kubelet/index.js';
import {byTime, EventChanges, type KeptEvent} from './views/pod-events.js';
import {repeated} from './watch.js';

/** Which events are followed. */
export interface FollowedEvents {
  readonly rootDir: string;
  readonly clock: Clock;
  /** Only what happened since, ms since the epoch. */
  readonly sinceMs: number;
  readonly signal: AbortSignal;
}

/** How often it is looked. */
const PAUSE_MS = 1000;

/**
 * What happens to the pods of a root directory, as their kubelet or sync tells of it, until the signal aborts. Rejects
 * with SystemError, and with the signal's reason.
 */
export async function* keptEvents({
  rootDir,
  clock,
  sinceMs,
  signal,
}: FollowedEvents): AsyncGenerator<KeptEvent> {
  const [store, histories] = [new PodStore(rootDir), new PodHistories(rootDir, clock)];
  const changes = new EventChanges();
  const look = async (): Promise<readonly KeptEvent[]> => {
    // One that can't be read is told of by who lists pods.
    const {records} = await store.list();
    const events = await Promise.all(
      records.map(async (record) => (await histories.events(record.uid)).map((event) => ({record, event}))),
    );
    return events.flat().toSorted(byTime);
  };
  for await (const events of repeated(look, {clock, pauseMs: PAUSE_MS, signal}))
    for (const kept of changes.since(events)) if (Date.parse(kept.event.lastTimestamp) >= sinceMs) yield kept;
}
