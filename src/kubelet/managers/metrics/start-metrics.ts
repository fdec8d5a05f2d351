import type {Clock} from '../../../base/clock.js';
import type {SyncResult} from '../../contract/sync-result.js';
import type {MetricFamily} from './exposition.js';
import {Counter, Histogram, toSeconds} from './metric-types.js';

/** Buckets from half a second to one hour (podStartupDurationBuckets). */
const START_BUCKETS = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700,
  3600,
];

/** Metrics of the starts of pods and containers and their durations (pkg/kubelet/metrics). */
export class StartMetrics {
  readonly #clock: Clock;
  readonly #podWorkerStart = new Histogram({
    name: 'kubelet_pod_worker_start_duration_seconds',
    help: 'Duration in seconds from kubelet seeing a pod to starting a worker.',
  });
  readonly #podStart = new Histogram({
    name: 'kubelet_pod_start_duration_seconds',
    help: 'Duration in seconds from kubelet seeing a pod for the first time to the pod starting to run',
    buckets: START_BUCKETS,
  });
  readonly #startedPods = new Counter({
    name: 'kubelet_started_pods_total',
    help: 'Cumulative number of pods started',
  });
  readonly #startedPodsErrors = new Counter({
    name: 'kubelet_started_pods_errors_total',
    help: 'Cumulative number of errors when starting pods',
  });
  readonly #startedUserNamespaces = new Counter({
    name: 'kubelet_started_user_namespaced_pods_total',
    help: 'Cumulative number of pods with user namespaces started. This metric will only be collected on Linux.',
  });
  readonly #startedUserNamespacesErrors = new Counter({
    name: 'kubelet_started_user_namespaced_pods_errors_total',
    help: 'Cumulative number of errors when starting pods with user namespaces. This metric will only be collected on Linux.',
  });
  readonly #startedContainers = new Counter({
    name: 'kubelet_started_containers_total',
    help: 'Cumulative number of containers started',
    labels: ['container_type'],
  });
  readonly #startedContainersErrors = new Counter({
    name: 'kubelet_started_containers_errors_total',
    help: 'Cumulative number of errors when starting containers',
    labels: ['container_type', 'code'],
  });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  workerStarted(seenAtMs: number): void {
    this.#podWorkerStart.observe(toSeconds(this.#clock.now() - seenAtMs));
  }

  podStarted(seenAtMs: number): void {
    this.#podStart.observe(toSeconds(this.#clock.now() - seenAtMs));
  }

  synced(results: readonly SyncResult[], hasUserNamespace: boolean): void {
    for (const {action, failure} of results)
      if (action === 'CreatePodSandbox') this.#sandboxStarted(failure, hasUserNamespace);
      // A waiting container has not started.
      else if (failure?.reason !== 'CrashLoopBackOff') this.#containerStarted(action, failure);
  }

  #sandboxStarted(failure: SyncResult['failure'], hasUserNamespace: boolean): void {
    this.#startedPods.increase();
    if (failure !== undefined) this.#startedPodsErrors.increase();
    if (hasUserNamespace) this.#startedUserNamespaces.increase();
    if (hasUserNamespace && failure !== undefined) this.#startedUserNamespacesErrors.increase();
  }

  #containerStarted(action: SyncResult['action'], failure: SyncResult['failure']): void {
    if (action !== 'StartContainer' && action !== 'InitContainer') return;
    const type = action === 'InitContainer' ? 'init_container' : 'container';
    this.#startedContainers.increase(type);
    if (failure !== undefined) this.#startedContainersErrors.increase(type, failure.reason);
  }

  families(): readonly MetricFamily[] {
    return [
      this.#podWorkerStart,
      this.#podStart,
      this.#startedPods,
      this.#startedPodsErrors,
      this.#startedUserNamespaces,
      this.#startedUserNamespacesErrors,
      this.#startedContainers,
      this.#startedContainersErrors,
    ].map((metric) => metric.family());
  }
}
