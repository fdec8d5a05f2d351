import {longRunningContainersOf} from '../../api/pod-containers.js';
import type {Pod} from '../../api/types/v1-pod.js';
import type {ContainerStatus, PodStatus} from '../../api/types/v1-status.js';
import {findByName} from '../../base/by-name.js';

/** Precision of times in a status, in ms: they are truncated to seconds. */
const STATUS_PRECISION_MS = 1000;

/**
 * Tracks how long the containers of a pod have been running. Nothing else shows that a container without a readiness or
 * startup probe has started successfully.
 */
export class StartupTracker {
  readonly #minReadyMs: number;
  /** Time at which a container was first seen running, in ms since the epoch, by container ID. */
  readonly #seenAt = new Map<string, number>();

  /** `minReadyMs` is the time that a container without such a probe must run before it counts as ready, in ms. */
  constructor(minReadyMs: number) {
    this.#minReadyMs = minReadyMs;
  }

  /** Records the running containers and returns the time until all have run for long enough, in ms; 0 if they have. */
  observe(pod: Pod, {containerStatuses = [], initContainerStatuses = []}: PodStatus, nowMs: number): number {
    const remaining = longRunningContainersOf(pod)
      .filter(({readinessProbe, startupProbe}) => readinessProbe === undefined && startupProbe === undefined)
      .map(({name}) => findByName(containerStatuses, name) ?? findByName(initContainerStatuses, name))
      .map((status) => (status === undefined ? 0 : this.#remaining(status, nowMs)));
    return Math.max(0, ...remaining);
  }

  #remaining({containerID = '', state}: ContainerStatus, nowMs: number): number {
    if (state?.running === undefined) return 0;
    const {startedAt} = state.running;
    const seenAt = this.#seenAt.get(containerID) ?? nowMs;
    this.#seenAt.set(containerID, seenAt);
    // The container may have started before this process.
    const startedBy = startedAt === undefined ? seenAt : Date.parse(startedAt) + STATUS_PRECISION_MS;
    return Math.max(0, Math.min(seenAt, startedBy) + this.#minReadyMs - nowMs);
  }
}
