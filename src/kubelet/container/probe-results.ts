import type {Container, Pod, Probe} from '../../api/v1.js';
import type {PodStatus} from '../../api/v1-status.js';
import type {ContainerId, PodUid} from '../../cri/index.js';

/** What a probe said last of a container instance. */
export type ProbeResult = 'Success' | 'Failure' | 'Unknown';

/** What is probed. */
export type ProbeKind = 'liveness' | 'readiness' | 'startup';

type ByInstance = Pick<ReadonlyMap<ContainerId, ProbeResult>, 'get'>;

/** The newest probe results by container instance; one without an entry hasn't been probed yet, or has no such probe. */
export interface ProbeResults {
  readonly liveness: ByInstance;
  readonly startup: ByInstance;
}

export const NO_PROBES: ProbeResults = {liveness: new Map(), startup: new Map()};

/** A probe's result that has changed. */
export interface ProbeOutcome {
  readonly uid: PodUid;
  /** The container instance. */
  readonly id: ContainerId;
  readonly probe: ProbeKind;
  readonly status: 'unhealthy' | 'ready' | 'not ready' | 'started' | 'unstarted';
}

/** How far a container instance has come. */
export interface Readiness {
  readonly started: boolean;
  readonly ready: boolean;
}

/** A container instance that runs. */
export interface RunningInstance {
  readonly container: Container;
  readonly id: ContainerId;
  /** How far it had come when its status was made before. */
  readonly before: Readiness | undefined;
}

/** Probes the containers of a pod; what they say decides on restarts and readiness (the kubelet's prober Manager). */
export interface PodProbes {
  readonly results: ProbeResults;
  readonly readinessOf: (instance: RunningInstance) => Readiness;
  /** Begins to probe the pod, unless it is probed already; `status` tells which instances there are. */
  add(pod: Pod, status: PodStatus): void;
  /** How a pod that is probed is now. */
  observe(pod: Pod, status: PodStatus): void;
  /** The pod is about to end: a container that ends is neither unhealthy nor has to start. */
  stopLivenessAndStartup(pod: Pod): void;
  /** Ends all probes of the pod. */
  remove(pod: Pod): void;
}

/** How one probe of a container stands, for who looks. Times are in ms since the epoch. */
export interface ProbeState {
  readonly container: string;
  readonly kind: ProbeKind;
  /** What counts for the instance; undefined when nothing does yet. */
  readonly counts: ProbeResult | undefined;
  /** The last one that was made: `Unknown` when it could not be carried out. */
  readonly last: {readonly at: number; readonly result: ProbeResult; readonly output: string} | undefined;
  /** How often in a row the last result has come, and how often it has to come to count. */
  readonly inARow: number;
  readonly threshold: number;
  /** When the next one is due; undefined while one is under way, and when none is to come. */
  readonly nextAt: number | undefined;
  /** Why none is made at the moment; undefined when they are. */
  readonly waitsFor: 'another instance' | 'its time' | undefined;
}

/** Without anybody who probes, what runs has started, is ready, and is well. */
export const ALL_WELL: PodProbes = {
  results: {liveness: new Map(), startup: {get: () => 'Success'}},
  readinessOf: () => ({started: true, ready: true}),
  add: () => undefined,
  observe: () => undefined,
  stopLivenessAndStartup: () => undefined,
  remove: () => undefined,
};

/** The container's probe of that kind. */
export function probeOf(container: Container, kind: ProbeKind): Probe | undefined {
  return container[`${kind}Probe`];
}
