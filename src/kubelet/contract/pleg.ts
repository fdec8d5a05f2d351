import type {PodUid} from '../../cri/index.js';
import type {RuntimePodStatus} from './runtime-pod-status.js';

/** Type of a pod lifecycle event (pleg.PodLifeCycleEventType). ContainerChanged events are not sent. */
export type PodLifecycleEventType = 'ContainerStarted' | 'ContainerDied' | 'ContainerRemoved' | 'PodSync';

/** A change of state in the runtime (pleg.PodLifecycleEvent). */
export interface PodLifecycleEvent {
  readonly uid: PodUid;
  readonly type: PodLifecycleEventType;
  /** ID of the container or sandbox; absent for PodSync. */
  readonly id?: string;
}

/**
 * A pod in the runtime, whichever client created it; housekeeping compares it with the desired pods
 * (kubecontainer.Pod).
 */
export interface RunningPod {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
  /** True if a container runs or a sandbox is ready. */
  readonly isRunning: boolean;
}

/** A point in the order in which statuses are read; a later one is greater. */
export type CacheMark = number;

/** Cache of the pods' runtime statuses (kubecontainer.Cache). */
export interface PodCache {
  /**
   * Returns the newest status, an empty one for an unknown pod. Throws the runtime's error if the pod could not be
   * read.
   */
  get(uid: PodUid): RuntimePodStatus;
  /** Returns the newest status, an empty one for an unknown pod; undefined if the pod could not be read. */
  lastSeen(uid: PodUid): RuntimePodStatus | undefined;
  /** Returns a mark: what is read from now on is newer than it. */
  mark(): CacheMark;
  /**
   * Resolves with a status whose read started after the mark; waits for one and requests an inspection of the pod.
   * Rejects with the runtime's error if the pod could not be read, and with the signal's reason.
   */
  getNewerThan(uid: PodUid, mark: CacheMark, signal: AbortSignal): Promise<RuntimePodStatus>;
}

/** State of a PLEG, for introspection. */
export interface PlegReport {
  /** True if the PLEG relies on the runtime's events and relists rarely. */
  readonly reliesOnEvents: boolean;
  /** Start of the last successful relist, in ms since the epoch. */
  readonly relistedAt: number | undefined;
}

/** The pod lifecycle event generator: reports changes in the runtime and updates the cache (pleg). */
export interface Pleg {
  readonly cache: PodCache;
  /** Watches the runtime until its signal aborts; never rejects. */
  run(): Promise<void>;
  /** Returns all pods seen in the runtime, whichever client created them; none before the first relist. */
  runningPods(): readonly RunningPod[];
  /** Requests an on-demand relist of the pod. Never blocks; repeated requests for one pod count once. */
  requestRelist(uid: PodUid): void;
  /** Returns the state of the PLEG. */
  report(): PlegReport;
  /**
   * Returns why pods cannot be synced, in the kubelet's wording (`pleg was last seen active 3m1s ago; …`); undefined
   * when healthy.
   */
  unhealthyReason(): string | undefined;
}
