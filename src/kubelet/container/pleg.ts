import type {PodUid} from '../../cri/index.js';
import type {RuntimePodStatus} from './pod-status.js';

/** What the PLEG tells of (pleg.PodLifeCycleEventType). ContainerChanged isn't told. */
export type PodLifecycleEventType = 'ContainerStarted' | 'ContainerDied' | 'ContainerRemoved' | 'PodSync';

/** A change of state in the runtime. */
export interface PodLifecycleEvent {
  readonly uid: PodUid;
  readonly type: PodLifecycleEventType;
  /** The container or sandbox; absent for PodSync. */
  readonly id?: string;
}

/** A pod in the runtime, whoever made it: what housekeeping compares with what is wanted (kubecontainer.Pod). */
export interface RunningPod {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
  /** Whether a container runs or a sandbox is ready. */
  readonly isRunning: boolean;
}

/** What runs of pods, as last read (kubecontainer.Cache). */
export interface PodCache {
  /** The newest status; of an unknown pod an empty one. Throws what the runtime answered when the pod couldn't be read. */
  get(uid: PodUid): RuntimePodStatus;
  /**
   * A status read after `time` (ms since the epoch): waits for one, and sees to it that the pod is looked at. Rejects
   * with what the runtime answered when the pod couldn't be read, and with the signal's reason.
   */
  getNewerThan(uid: PodUid, time: number, signal: AbortSignal): Promise<RuntimePodStatus>;
}

/** How a PLEG stands. */
export interface PlegReport {
  /** Whether the runtime's events are relied on, so that it is seldom listed. */
  readonly reliesOnEvents: boolean;
  /** When the last list began that succeeded, ms since the epoch. */
  readonly relistedAt: number | undefined;
}

/** The pod lifecycle event generator: tells of changes in the runtime and keeps the cache (pleg). */
export interface Pleg {
  readonly cache: PodCache;
  /** Looks after the runtime until its signal aborts; never rejects. */
  run(): Promise<void>;
  /** All pods in the runtime, whoever made them, as last seen; none before the first relist. */
  runningPods(): readonly RunningPod[];
  /** Has the pod looked at soon (on-demand relist): never blocks, calls for one pod count once. */
  requestRelist(uid: PodUid): void;
  /** How it stands, for who looks. */
  report(): PlegReport;
  /** Why pods can't be synced now, in the kubelet's words (`pleg was last seen active 3m1s ago; …`); undefined when well. */
  unhealthy(): string | undefined;
}
