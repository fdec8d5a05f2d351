import type {Clock} from '../../../base/clock.js';
import type {PodEvent} from '../../contract/pod-event.js';
import {PodHistories} from '../history/pod-history.js';
import {PodLocks} from './pod-locks.js';
import type {PodRecord} from './pod-store.js';

/** Options of recordPodEvent. */
export interface RecordPodEventOptions {
  readonly rootDir: string;
  readonly clock: Clock;
  /** Aborts the wait for another process that works on the pod. */
  readonly signal: AbortSignal;
  readonly onFailure: (error: unknown) => void;
}

/** Records an event about a pod that this process does not run. Rejects with SystemError and the signal's reason. */
export async function recordPodEvent(
  record: PodRecord,
  event: Omit<PodEvent, 'pod'>,
  {rootDir, clock, signal, onFailure}: RecordPodEventOptions,
): Promise<void> {
  const locks = new PodLocks({rootDir, clock, observer: {waitingForLock: () => undefined}});
  await locks.withPodLock(record, signal, async () => {
    const history = new PodHistories(rootDir, clock).of(record.uid, onFailure);
    history.event({...event, pod: record.pod});
    await history.flush();
  });
}
