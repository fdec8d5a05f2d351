import type {Clock} from '../../base/clock.js';
import type {ParsedFiles} from '../../base/fs/file-cache.js';
import {PodHistories, PodStore, type PodRecord} from '../../kubelet/index.js';
import {compareByTime, EventChangeDetector, type RecordedPodEvent} from './event-table.js';
import {repeatSample} from '../../cli/output/watch-screen.js';

/** Options of followRecordedEvents. */
export interface FollowRecordedEventsOptions {
  readonly rootDir: string;
  readonly clock: Clock;
  /** Time of the first event, in ms since the epoch. */
  readonly sinceMs: number;
  readonly signal: AbortSignal;
}

/** Interval between reads, in ms. */
const PAUSE_MS = 1000;

/** Returns the recorded events of pods, newest last; `files` reads them. Rejects with SystemError. */
export async function readRecordedEvents(
  rootDir: string,
  clock: Clock,
  records: readonly PodRecord[],
  files?: ParsedFiles,
): Promise<readonly RecordedPodEvent[]> {
  const histories = new PodHistories(rootDir, clock, files);
  const events = await Promise.all(
    records.map(async (record) => (await histories.events(record.uid)).map((event) => ({record, event}))),
  );
  return events.flat().toSorted(compareByTime);
}

/**
 * Yields the events that the kubelet or `kcri sync` records for the pods of a root directory, until the signal aborts.
 * Rejects with SystemError, and with the signal's reason.
 */
export async function* followRecordedEvents({
  rootDir,
  clock,
  sinceMs,
  signal,
}: FollowRecordedEventsOptions): AsyncGenerator<RecordedPodEvent> {
  const store = new PodStore(rootDir);
  const changes = new EventChangeDetector();
  // Commands that list pods report broken records.
  const read = async () => await readRecordedEvents(rootDir, clock, (await store.list()).records);
  for await (const events of repeatSample(read, {clock, pauseMs: PAUSE_MS, signal}))
    for (const recorded of changes.detect(events))
      if (Date.parse(recorded.event.lastTimestamp) >= sinceMs) yield recorded;
}
