import type {Clock} from '../../base/clock.js';
import type {EnsuredImage, KubeletMetrics, MadeProbe} from '../container/kubelet-metrics.js';
import type {SyncResult} from '../container/sync-result.js';
import type {PlegNotice} from '../pleg/pleg-notice.js';
import {exposition, type MetricFamily} from './exposition.js';
import {HealthMetrics} from './health-metrics.js';
import {HttpMetrics} from './http-metrics.js';
import {ImageMetrics} from './image-metrics.js';
import {Counter, exponentialBuckets, Gauge, Histogram} from './instruments.js';
import {processMetrics, processStartTime} from './process-metrics.js';
import {RuntimeOperations} from './runtime-operations.js';

/** From half a second to an hour (podStartupDurationBuckets). */
const START_BUCKETS = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700,
  3600,
];
const PROBE_TYPES = {liveness: 'Liveness', readiness: 'Readiness', startup: 'Startup'} as const;

/** All that a kubelet counts, under the kubelet's names (pkg/kubelet/metrics, pleg, prober, server/metrics). */
export class KubeletRegistry implements KubeletMetrics {
  readonly http = new HttpMetrics();
  readonly health = new HealthMetrics();
  readonly #images = new ImageMetrics();
  readonly #clock: Clock;
  readonly #operations: RuntimeOperations;
  readonly #nodeName = new Gauge({
    name: 'kubelet_node_name',
    help: "The node's name. The count is always 1.",
    labels: ['node'],
  });
  readonly #provider = new Gauge({
    name: 'kubelet_metrics_provider',
    help: "Metrics provider used by kubelet to collect container stats. Values can be 'cadvisor' and 'cri'",
    labels: ['provider'],
  });
  readonly #containersPerPod = new Histogram({
    name: 'kubelet_containers_per_pod_count',
    help: 'The number of containers per pod.',
    buckets: exponentialBuckets(1, 2, 5),
  });
  readonly #podWorker = new Histogram({
    name: 'kubelet_pod_worker_duration_seconds',
    help: 'Duration in seconds to sync a single pod. Broken down by operation type: create, update, or sync',
    labels: ['operation_type'],
  });
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
  readonly #restartedPods = new Counter({
    name: 'kubelet_restarted_pods_total',
    help: 'Number of pods that have been restarted because they were deleted and recreated with the same UID while the kubelet was watching them (common for static pods, extremely uncommon for API pods)',
    labels: ['static'],
  });
  readonly #evictions = new Counter({
    name: 'kubelet_evictions',
    help: 'Cumulative number of pod evictions by eviction signal',
    labels: ['eviction_signal'],
  });
  readonly #orphansFound = new Counter({
    name: 'kubelet_orphaned_runtime_pods_total',
    help: 'Number of pods that have been detected in the container runtime without being already known to the pod worker. This typically indicates the kubelet was restarted while a pod was force deleted in the API or in the local configuration, which is unusual.',
  });
  readonly #orphansErrors = new Gauge({
    name: 'kubelet_orphan_pod_cleaned_volumes_errors',
    help: 'The number of orphaned Pods whose volumes failed to be cleaned in the last periodic sweep.',
  });
  readonly #orphans = new Gauge({
    name: 'kubelet_orphan_pod_cleaned_volumes',
    help: 'The total number of orphaned Pods whose volumes were cleaned in the last periodic sweep.',
  });
  readonly #preemptions = new Counter({
    name: 'kubelet_preemptions',
    help: 'Cumulative number of pod preemptions by preemption resource',
    labels: ['preemption_signal'],
  });
  readonly #relistDuration = new Histogram({
    name: 'kubelet_pleg_relist_duration_seconds',
    help: 'Duration in seconds for relisting pods in PLEG.',
  });
  readonly #relistInterval = new Histogram({
    name: 'kubelet_pleg_relist_interval_seconds',
    help: 'Interval in seconds between relisting in PLEG.',
  });
  readonly #lastSeen = new Gauge({
    name: 'kubelet_pleg_last_seen_seconds',
    help: 'Timestamp in seconds when PLEG was last seen active.',
  });
  readonly #discarded = new Counter({
    name: 'kubelet_pleg_discard_events',
    help: 'The number of discard events in PLEG.',
  });
  readonly #streamSuccesses = new Counter({
    name: 'kubelet_evented_pleg_connection_success_count',
    help: 'The number of times a streaming client was obtained to receive CRI Events.',
  });
  readonly #streamErrors = new Counter({
    name: 'kubelet_evented_pleg_connection_error_count',
    help: 'The number of errors encountered during the establishment of streaming connection with the CRI runtime.',
  });
  readonly #streamLatency = new Histogram({
    name: 'kubelet_evented_pleg_connection_latency_seconds',
    help: 'The latency of streaming connection with the CRI runtime, measured in seconds.',
  });
  readonly #probes = new Counter({
    name: 'prober_probe_total',
    help: 'Cumulative number of a liveness, readiness or startup probe for a container by result.',
    stability: 'BETA',
    labels: ['probe_type', 'result', 'container', 'pod', 'namespace', 'pod_uid'],
  });
  readonly #probeDuration = new Histogram({
    name: 'prober_probe_duration_seconds',
    help: 'Duration in seconds for a probe response.',
    labels: ['probe_type', 'container', 'pod', 'namespace'],
    buckets: exponentialBuckets(0.0001, 2, 16),
  });
  /** When the last relist began. */
  #relistedAt: number | undefined;

  /** `operations` counts the calls of the connection to the runtime, which is there before the node has a name. */
  constructor(clock: Clock, nodeName: string, operations = new RuntimeOperations(clock)) {
    this.#clock = clock;
    this.#operations = operations;
    this.#nodeName.set(1, nodeName);
    this.#provider.set(1, 'cri');
    this.orphansRemoved(0, 0);
  }

  worked(operation: 'create' | 'update' | 'sync' | 'kill', durationMs: number): void {
    this.#podWorker.observe(seconds(durationMs), operation);
  }

  workerStarted(seenAtMs: number): void {
    this.#podWorkerStart.observe(seconds(this.#clock.now() - seenAtMs));
  }

  podStarted(seenAtMs: number): void {
    this.#podStart.observe(seconds(this.#clock.now() - seenAtMs));
  }

  podAdded(containers: number): void {
    this.#containersPerPod.observe(containers);
  }

  synced(results: readonly SyncResult[], hasUserNamespace: boolean): void {
    for (const {action, failure} of results)
      if (action === 'CreatePodSandbox') this.#sandboxStarted(failure, hasUserNamespace);
      // What waits is not started.
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

  restarted(isStatic: boolean): void {
    this.#restartedPods.increase(isStatic ? 'true' : '');
  }

  evicted(signal: string): void {
    this.#evictions.increase(signal);
  }

  orphanFound(): void {
    this.#orphansFound.increase();
  }

  orphansRemoved(count: number, failures: number): void {
    this.#orphans.set(count);
    this.#orphansErrors.set(failures);
  }

  imageEnsured(image: EnsuredImage): void {
    this.#images.ensured(image);
  }

  imagePulled(sizeBytes: bigint, durationMs: number): void {
    this.#images.pulled(sizeBytes, seconds(durationMs));
  }

  imageCollected(reason: 'age' | 'space'): void {
    this.#images.collected(reason);
  }

  preempted(resource: string): void {
    this.#preemptions.increase(resource);
  }

  podGone({uid, name, namespace}: MadeProbe['pod']): void {
    this.#probes.forget(({pod_uid: other}) => other === uid);
    this.#probeDuration.forget((labels) => labels['pod'] === name && labels['namespace'] === namespace);
  }

  probed({probe, result, durationMs, pod, container}: MadeProbe): void {
    const type = PROBE_TYPES[probe];
    this.#probes.increase(type, result, container, pod.name, pod.namespace, pod.uid);
    if (result !== 'unknown')
      this.#probeDuration.observe(seconds(durationMs), type, container, pod.name, pod.namespace);
  }

  /** What the PLEG says of itself. */
  pleg(notice: PlegNotice): void {
    if (notice.kind === 'relisted') this.#relisted(notice.durationMs);
    else if (notice.kind === 'event-discarded') this.#discarded.increase();
    else if (notice.kind === 'event-heard') this.#streamLatency.observe(seconds(notice.delayMs));
    else if (notice.kind === 'stream-trusted') this.#streamSuccesses.increase();
    else if (notice.kind === 'stream-failed') this.#streamErrors.increase();
  }

  #relisted(durationMs: number): void {
    const startedAt = this.#clock.now() - durationMs;
    this.#relistDuration.observe(seconds(durationMs));
    if (this.#relistedAt !== undefined) this.#relistInterval.observe(seconds(startedAt - this.#relistedAt));
    this.#relistedAt = startedAt;
    this.#lastSeen.set(startedAt / 1000);
  }

  /** The text of /metrics; `now` are the numbers that are only known when somebody asks. */
  async text(now: readonly MetricFamily[]): Promise<string> {
    const own = [
      this.#nodeName,
      this.#provider,
      this.#containersPerPod,
      this.#podWorker,
      this.#podWorkerStart,
      this.#podStart,
      this.#startedPods,
      this.#startedPodsErrors,
      this.#startedUserNamespaces,
      this.#startedUserNamespacesErrors,
      this.#startedContainers,
      this.#startedContainersErrors,
      this.#restartedPods,
      this.#evictions,
      this.#orphansFound,
      this.#orphans,
      this.#orphansErrors,
      this.#preemptions,
      this.#relistDuration,
      this.#relistInterval,
      this.#lastSeen,
      this.#discarded,
      this.#streamSuccesses,
      this.#streamErrors,
      this.#streamLatency,
    ].map((metric) => metric.family());
    return exposition([
      ...own,
      ...this.#images.families(),
      ...this.#operations.families(),
      ...this.http.families(),
      ...(await processMetrics()),
      ...now,
    ]);
  }

  /** The text of /metrics/slis. */
  slisText(): string {
    return exposition(this.health.families());
  }

  /** The text of /metrics/probes. */
  probesText(): string {
    return exposition([this.#probes.family(), this.#probeDuration.family(), processStartTime()]);
  }
}

/** Clocks are put back, and one number that is none would spoil a sum for ever. */
function seconds(ms: number): number {
  return ms > 0 ? ms / 1000 : 0;
}
