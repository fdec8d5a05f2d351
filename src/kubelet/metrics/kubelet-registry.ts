import type {Clock} from '../../base/clock.js';
import type {KubeletMetrics, MadeProbe} from '../container/kubelet-metrics.js';
import type {SyncResult} from '../container/sync-result.js';
import type {PlegNotice} from '../pleg/pleg-notice.js';
import {exposition, type MetricFamily} from './exposition.js';
import {HealthMetrics} from './health-metrics.js';
import {HttpMetrics} from './http-metrics.js';
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
  readonly #clock: Clock;
  readonly #operations: RuntimeOperations;
  readonly #nodeName = new Gauge({
    name: 'kubelet_node_name',
    help: "The node's name. The count is always 1.",
    labels: ['node'],
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
    this.#orphans.set(0);
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

  synced(results: readonly SyncResult[]): void {
    for (const {action, failure} of results) {
      if (action === 'CreatePodSandbox') {
        this.#startedPods.increase();
        if (failure !== undefined) this.#startedPodsErrors.increase();
      } else if (action === 'StartContainer' || action === 'InitContainer') {
        // What waits is not started.
        if (failure?.reason === 'CrashLoopBackOff') continue;
        const type = action === 'InitContainer' ? 'init_container' : 'container';
        this.#startedContainers.increase(type);
        if (failure !== undefined) this.#startedContainersErrors.increase(type, failure.reason);
      }
    }
  }

  restarted(isStatic: boolean): void {
    this.#restartedPods.increase(isStatic ? 'true' : '');
  }

  orphansRemoved(count: number): void {
    this.#orphans.set(count);
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
      this.#podWorker,
      this.#podWorkerStart,
      this.#podStart,
      this.#startedPods,
      this.#startedPodsErrors,
      this.#startedContainers,
      this.#startedContainersErrors,
      this.#restartedPods,
      this.#orphans,
      this.#preemptions,
      this.#relistDuration,
      this.#relistInterval,
      this.#lastSeen,
      this.#discarded,
      this.#streamSuccesses,
      this.#streamErrors,
    ].map((metric) => metric.family());
    return exposition([
      ...own,
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
