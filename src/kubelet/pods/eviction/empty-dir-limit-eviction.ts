import type {Pod} from '../../../api/types/v1-pod.js';
import {isWaiting} from '../../../base/clock.js';
import {isCriticalPod} from '../../managers/kuberuntime/config/critical-pod.js';
import type {SyncContext} from '../../managers/kuberuntime/sync-context.js';
import type {PodEviction} from './eviction-manager.js';

/** Minimum time between two measurements of a pod's volumes, in ms (evictionMonitoringPeriod). */
const MEASURE_MS = 10_000;
const EVICTED = 'Evicted';

/** Compares the emptyDir volumes of one pod with their size limits (eviction_manager.go emptyDirLimitEviction). */
export class EmptyDirLimitEviction {
  readonly #context: Pick<SyncContext, 'clock' | 'files' | 'events'>;
  #measureAt = 0;

  constructor(context: Pick<SyncContext, 'clock' | 'files' | 'events'>) {
    this.#context = context;
  }

  /**
   * Resolves with the pod's final status if one of its volumes exceeds its limit, and reports it as an event. Measures
   * every ten seconds at most; resolves with undefined in between and for critical pods.
   */
  async check(pod: Pod): Promise<PodEviction | undefined> {
    const {clock, files, events} = this.#context;
    if (isWaiting(this.#measureAt, MEASURE_MS, clock.now()) || isCriticalPod(pod)) return undefined;
    this.#measureAt = clock.now() + MEASURE_MS;
    const volume = await files.exceededVolume(pod);
    if (volume === undefined) return undefined;
    const message = `Usage of EmptyDir volume "${volume.name}" exceeds the limit "${volume.sizeLimit}". `;
    events({type: 'Warning', reason: EVICTED, message, pod});
    return {phase: 'Failed', reason: EVICTED, message};
  }
}
