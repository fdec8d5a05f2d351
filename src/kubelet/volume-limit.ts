import type {Pod} from '../api/v1.js';
import type {PodStatus} from '../api/v1-status.js';
import {isCriticalPod} from './kuberuntime/oom-score.js';
import type {SyncContext} from './kuberuntime/sync-context.js';

/** How long an evicted pod has to stop. */
export const EVICTION_GRACE_SECONDS = 1;

/** How often a kubelet looks for pods to evict. */
const MEASURE_MS = 10_000;
const EVICTED = 'Evicted';

/** Measures from time to time what a pod's volumes take of the disk (eviction emptyDirLimitEviction). */
export class VolumeLimit {
  readonly #context: Pick<SyncContext, 'clock' | 'files' | 'events'>;
  #measureAt = 0;

  constructor(context: Pick<SyncContext, 'clock' | 'files' | 'events'>) {
    this.#context = context;
  }

  /** How the pod is to end, told as an event, when one of its volumes takes more than it may. */
  async evictionOf(pod: Pod): Promise<Pick<PodStatus, 'phase' | 'reason' | 'message'> | undefined> {
    const {clock, files, events} = this.#context;
    if (clock.now() < this.#measureAt || isCriticalPod(pod)) return undefined;
    this.#measureAt = clock.now() + MEASURE_MS;
    const volume = await files.exceededVolume(pod);
    if (volume === undefined) return undefined;
    const message = `Usage of EmptyDir volume "${volume.name}" exceeds the limit "${volume.sizeLimit}". `;
    events({type: 'Warning', reason: EVICTED, message, pod});
    return {phase: 'Failed', reason: EVICTED, message};
  }
}
