import type {Container, Pod, Probe} from '../../api/types/v1-pod.js';
import type {PodStatus} from '../../api/types/v1-status.js';
import type {ContainerId, PodUid} from '../../cri/index.js';

/** Last result of a probe of a container instance. */
export type ProbeResult = 'Success' | 'Failure' | 'Unknown';

/** Kind of a container probe. */
export type ProbeKind = 'liveness' | 'readiness' | 'startup';

type ByInstance = Pick<ReadonlyMap<ContainerId, ProbeResult>, 'get'>;

/** Newest probe results by container instance; an instance without an entry is not probed yet or has no such probe. */
export interface ProbeResults {
  readonly liveness: ByInstance;
  readonly startup: ByInstance;
}

export const NO_PROBE_RESULTS: ProbeResults = {liveness: new Map(), startup: new Map()};

/** Change of a probe result. */
export interface ProbeUpdate {
  readonly uid: PodUid;
  readonly id: ContainerId;
  readonly probe: ProbeKind;
  readonly status: 'unhealthy' | 'ready' | 'not ready' | 'started' | 'unstarted';
}

/** Readiness of a container instance. */
export interface Readiness {
  readonly started: boolean;
  readonly ready: boolean;
}

/** A running container instance. */
export interface RunningInstance {
  readonly container: Container;
  readonly id: ContainerId;
  /** Readiness in the previous status of this instance. */
  readonly before: Readiness | undefined;
}

/** Prober of the containers of a pod. Its results determine restarts and readiness (prober.Manager). */
export interface PodProbes {
  readonly results: ProbeResults;
  readonly readinessOf: (instance: RunningInstance) => Readiness;
  /** Starts to probe the pod, unless it is probed already; `status` lists its container instances. */
  add(pod: Pod, status: PodStatus): void;
  /** Updates the status of a probed pod. */
  observe(pod: Pod, status: PodStatus): void;
  /**
   * Stops the liveness and startup probes of a terminating pod: an exiting container is neither unhealthy nor
   * starting.
   */
  stopLivenessAndStartup(pod: Pod): void;
  /** Stops all probes of the pod. */
  remove(pod: Pod): void;
}

/** State of one container probe, for introspection. Times are in ms since the epoch. */
export interface ProbeState {
  readonly container: string;
  readonly kind: ProbeKind;
  /** Result in effect for the instance; undefined before the first one. */
  readonly counts: ProbeResult | undefined;
  /** Last run of the probe: `Unknown` when it could not be carried out. */
  readonly last: {readonly at: number; readonly result: ProbeResult; readonly output: string} | undefined;
  /** Number of times in a row that the probe gave the last result. It takes effect at `threshold`. */
  readonly inARow: number;
  readonly threshold: number;
  /** Time of the next run; undefined while the probe runs and when no run is scheduled. */
  readonly nextAt: number | undefined;
  /** Reason why the probe does not run yet; undefined if it is due. */
  readonly waitsFor: 'another instance' | 'its time' | undefined;
}

/** Probes of a pod without a prober: a running container counts as started, ready and healthy. */
export const ALWAYS_READY: PodProbes = {
  results: {liveness: new Map(), startup: {get: () => 'Success'}},
  readinessOf: () => ({started: true, ready: true}),
  add: () => undefined,
  observe: () => undefined,
  stopLivenessAndStartup: () => undefined,
  remove: () => undefined,
};

/** Returns the container's probe of this kind; undefined without one. */
export function probeOf(container: Container, kind: ProbeKind): Probe | undefined {
  return container[`${kind}Probe`];
}
