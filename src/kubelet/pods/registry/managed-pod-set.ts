import type {Pod} from '../../../api/types/v1-pod.js';
import type {PodUid} from '../../../cri/index.js';
import type {PodRef} from '../../contract/pod-ref.js';
import type {RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import type {PodSyncer} from '../sync/pod-syncer.js';
import type {PodRecord} from './pod-store.js';

/** The PLEG's view of a pod when a worker starts it. */
export interface PodInRuntime {
  readonly status: RuntimePodStatus;
  /** True if the last relist found a sandbox or container of the pod. */
  readonly isListed: boolean;
  /** True if the pod is to be stopped, which a full disk must not prevent. */
  readonly isTerminating?: boolean;
}

/**
 * Pods that a kubelet core manages, with one PodSyncer each. `kcri kubelet` and `kcri sync` differ in the pods and in
 * how they adopt them: see ManagedPods and RequestedPods.
 */
export interface ManagedPodSet {
  /** Returns all records, including those of removed pods that still have dead containers in the runtime. */
  allRecords(): readonly PodRecord[];
  /** Returns the records of pods that have not been removed. */
  presentRecords(): readonly PodRecord[];
  get(uid: PodUid): PodRecord | undefined;
  getPresent(uid: PodUid): PodRecord | undefined;
  listSyncers(): readonly PodSyncer[];
  getSyncer(uid: PodUid): PodSyncer | undefined;
  ensureSyncer(record: PodRecord): PodSyncer;
  /** Resolves with the pod's record if no other kcri process works on the pod. Rejects with PodBusyError otherwise. */
  claim(ref: PodRef): Promise<PodRecord | undefined>;
  /**
   * Adopts the pod as a managed one and sets its desired spec. Rejects when another kcri process or program owns the
   * pod.
   */
  adopt(pod: Pod, found: PodInRuntime): Promise<PodSyncer>;
}
