import {onTestFinished} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import {SILENT_LOGGER} from '../../../../src/base/logger.js';
import type {PodUid} from '../../../../src/cri/index.js';
import type {PodEvent} from '../../../../src/kubelet/contract/pod-event.js';
import type {PodCache, RunningPod} from '../../../../src/kubelet/contract/pleg.js';
import {podRef} from '../../../../src/kubelet/contract/pod-ref.js';
import type {RuntimePodStatus} from '../../../../src/kubelet/contract/runtime-pod-status.js';
import type {TerminationOptions, PodSyncHandler} from '../../../../src/kubelet/pods/workers/run-work.js';
import {PodWorkers} from '../../../../src/kubelet/pods/workers/pod-workers.js';
import type {SyncOutcome} from '../../../../src/kubelet/pods/workers/worker-state.js';
import {FakeClock, TEST_TIME_MS} from '../../../fakes/fake-clock.js';
import {NO_RUNTIME_POD} from '../../../fakes/a-runtime-pod.js';

/** Returns the status of a pod without sandbox. */
export const emptyStatus = (id: PodUid): RuntimePodStatus => ({...NO_RUNTIME_POD, uid: id});

export const SYNCED: SyncOutcome = {isTerminal: false, hasActed: true};

/** Records the calls and behaves as the test defines. */
class Handler implements PodSyncHandler {
  readonly done: string[] = [];
  sync: (pod: Pod, signal: AbortSignal) => Promise<SyncOutcome> = async () => SYNCED;
  terminating: (end: TerminationOptions) => Promise<boolean> = async () => true;
  terminated: () => Promise<void> = async () => undefined;
  syncPod(pod: Pod, _status: RuntimePodStatus, signal: AbortSignal): Promise<SyncOutcome> {
    this.done.push(`sync ${podRef(pod).name}`);
    return this.sync(pod, signal);
  }
  syncTerminatingPod(_pod: Pod, _status: RuntimePodStatus, end: TerminationOptions): Promise<boolean> {
    this.done.push(`terminating ${end.gracePeriodSeconds}`);
    return this.terminating(end);
  }
  async syncTerminatingRuntimePod({name}: RunningPod): Promise<void> {
    this.done.push(`terminating runtime pod ${name}`);
  }
  syncTerminatedPod(): Promise<void> {
    this.done.push('terminated');
    return this.terminated();
  }
  /** Makes each sync wait. Returns a function that completes the current one. */
  holdSyncs(): () => void {
    let finish = (): void => undefined;
    this.sync = () =>
      new Promise((resolve) => {
        finish = () => {
          resolve(SYNCED);
        };
      });
    return () => {
      finish();
    };
  }
}

/** Returns pod workers whose handler and cache the test controls, and what they did. */
export function createWorkers(cacheOf: Partial<PodCache> = {}) {
  const clock = new FakeClock({nowMs: TEST_TIME_MS, sleep: 'instant'});
  const handler = new Handler();
  const events: PodEvent[] = [];
  const newerThan: number[] = [];
  const relists: number[] = [];
  const bugs: [Pod, unknown][] = [];
  let marks = 0;
  const cache: PodCache = {
    get: emptyStatus,
    lastSeen: emptyStatus,
    mark: () => {
      marks += 1;
      return marks;
    },
    getNewerThan: async (id, mark) => {
      newerThan.push(mark);
      return emptyStatus(id);
    },
    ...cacheOf,
  };
  const workers = new PodWorkers({
    handler,
    cache,
    clock,
    requestRelist: () => relists.push(marks),
    random: () => 0,
    logger: SILENT_LOGGER,
    events: (event) => events.push(event),
    syncFrequencyMs: {current: 60_000},
    onInternalError: (pod, error) => bugs.push([pod, error]),
  });
  onTestFinished(() => workers.stop());
  return {clock, handler, events, newerThan, relists, bugs, workers, done: handler.done};
}
