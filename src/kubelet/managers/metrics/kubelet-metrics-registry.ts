import type {Clock} from '../../../base/clock.js';
import type {
  CpuUse,
  CsiCall,
  DraCall,
  DraOperation,
  ImageEnsureRequest,
  KubeletMetrics,
  PodResourcesCall,
  ProbeMeasurement,
  VolumeOperation,
} from '../../contract/kubelet-metrics.js';
import type {SyncResult} from '../../contract/sync-result.js';
import type {PlegNotice} from '../pleg/pleg-notice.js';
import {CpuMetrics} from './cpu-metrics.js';
import {ConnectionMetrics} from './connection-metrics.js';
import {DraMetrics} from './dra-metrics.js';
import {formatExposition, type MetricFamily} from './exposition.js';
import {HealthMetrics} from './health-metrics.js';
import {HttpMetrics} from './http-metrics.js';
import {ImageMetrics} from './image-metrics.js';
import {Counter, exponentialBuckets, Gauge, Histogram, toSeconds} from './metric-types.js';
import {MemoryQosMetrics} from './memory-qos-metrics.js';
import {NodeOperationMetrics} from './node-operation-metrics.js';
import {NumaMetrics} from './numa-metrics.js';
import {PlegMetrics} from './pleg-metrics.js';
import {PluginMetrics} from './plugin-metrics.js';
import {collectProcessMetrics, processStartTime} from './process-metrics.js';
import {StartMetrics} from './start-metrics.js';

const PROBE_TYPES = {liveness: 'Liveness', readiness: 'Readiness', startup: 'Startup'} as const;

/**
 * Registry of all metrics of a kubelet, under the kubelet's names (pkg/kubelet/metrics, pleg, prober, server/metrics).
 */
export class KubeletMetricsRegistry implements KubeletMetrics {
  readonly http = new HttpMetrics();
  readonly health = new HealthMetrics();
  readonly #images = new ImageMetrics();
  readonly #starts: StartMetrics;
  readonly #pleg: PlegMetrics;
  readonly #nodeOperations = new NodeOperationMetrics();
  readonly #cpus = new CpuMetrics();
  readonly #plugins = new PluginMetrics();
  readonly #dra = new DraMetrics();
  readonly #numa = new NumaMetrics();
  readonly #memoryQos = new MemoryQosMetrics();
  readonly #connections: ConnectionMetrics;
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
  readonly #handlingErrors = new Counter({
    name: 'kcri_pod_handling_errors_total',
    help: 'Number of errors in the handling of a pod by the sync loop, which repeats it, by operation.',
    labels: ['operation'],
  });
  readonly #eventLoopBlocks = new Counter({
    name: 'kcri_event_loop_blocked_seconds_total',
    help: 'Time in seconds during which the event loop was blocked, of blocks that took 5 seconds or longer.',
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

  constructor(clock: Clock, nodeName: string, connections = new ConnectionMetrics(clock)) {
    this.#connections = connections;
    this.#starts = new StartMetrics(clock);
    this.#pleg = new PlegMetrics(clock);
    this.#nodeName.set(1, nodeName);
    this.#provider.set(1, 'cri');
    this.orphanedPodsRemoved(0, 0);
  }

  workCompleted(operation: 'create' | 'update' | 'sync' | 'kill', durationMs: number): void {
    this.#podWorker.observe(toSeconds(durationMs), operation);
  }

  workerStarted(seenAtMs: number): void {
    this.#starts.workerStarted(seenAtMs);
  }

  podStarted(seenAtMs: number): void {
    this.#starts.podStarted(seenAtMs);
  }

  podSynced(results: readonly SyncResult[], hasUserNamespace: boolean): void {
    this.#starts.synced(results, hasUserNamespace);
  }

  podAdded(containers: number): void {
    this.#containersPerPod.observe(containers);
  }

  podRestarted(isStatic: boolean): void {
    this.#restartedPods.increase(isStatic ? 'true' : '');
  }

  podEvicted(signal: string): void {
    this.#evictions.increase(signal);
  }

  evictionStatsUsed(signal: string, ageMs: number): void {
    this.#nodeOperations.evictionStatsUsed(signal, ageMs);
  }

  cgroupManaged(operation: 'create' | 'update' | 'destroy', durationMs: number): void {
    this.#nodeOperations.cgroupManaged(operation, durationMs);
  }

  cpusPinned(isFailed: boolean): void {
    this.#cpus.pinned(isFailed);
  }

  cpusAssigned(use: CpuUse): void {
    this.#cpus.assigned(use);
  }

  nodeShutDown(times: Parameters<KubeletMetrics['nodeShutDown']>[0]): void {
    this.#nodeOperations.nodeShutDown(times);
  }

  volumeOperated(operation: VolumeOperation): void {
    this.#nodeOperations.volumeOperated(operation);
  }

  volumeMounted(plugin: string, durationMs: number): void {
    this.#nodeOperations.volumeMounted(plugin, durationMs);
  }

  csiCallCompleted(call: CsiCall): void {
    this.#nodeOperations.csiCallCompleted(call);
  }

  podHandlingFailed(handling: string): void {
    this.#handlingErrors.increase(handling);
  }

  /** Records a block of the event loop. */
  eventLoopBlocked(durationMs: number): void {
    this.#eventLoopBlocks.increaseBy(toSeconds(durationMs));
  }

  orphanedPodFound(): void {
    this.#orphansFound.increase();
  }

  orphanedPodsRemoved(count: number, failures: number): void {
    this.#orphans.set(count);
    this.#orphansErrors.set(failures);
  }

  imageEnsured(image: ImageEnsureRequest): void {
    this.#images.ensured(image);
  }

  imagePulled(sizeBytes: bigint, durationMs: number): void {
    this.#images.pulled(sizeBytes, toSeconds(durationMs));
  }

  imageCollected(reason: 'age' | 'space'): void {
    this.#images.collected(reason);
  }

  podPreempted(resource: string): void {
    this.#preemptions.increase(resource);
  }

  devicePluginRegistered(resource: string): void {
    this.#plugins.registered(resource);
  }

  devicesAllocated(resource: string, durationMs: number): void {
    this.#plugins.allocated(resource, durationMs);
  }

  draCallCompleted(call: DraCall): void {
    this.#dra.called(call);
  }

  draOperationCompleted(operation: DraOperation): void {
    this.#dra.operated(operation);
  }

  draClaimsInUse(counts: ReadonlyMap<string, number>): void {
    this.#dra.setClaims(counts);
  }

  podResourcesRequested(call: PodResourcesCall): void {
    this.#plugins.podResourcesRequested(call);
  }

  topologyAdmitted(admission: Parameters<KubeletMetrics['topologyAdmitted']>[0]): void {
    this.#numa.admitted(admission);
  }

  resourcesAligned(scope: 'container' | 'pod', isFailed: boolean): void {
    this.#numa.aligned(scope, isFailed);
  }

  memoryPinned(isFailed: boolean): void {
    this.#numa.memoryPinned(isFailed);
  }

  memoryProtected(bytes: Parameters<KubeletMetrics['memoryProtected']>[0]): void {
    this.#memoryQos.setProtected(bytes);
  }

  podRemoved({uid, name, namespace}: ProbeMeasurement['pod']): void {
    this.#probes.deleteMatching(({pod_uid: other}) => other === uid);
    this.#probeDuration.deleteMatching(
      (labels) => labels['pod'] === name && labels['namespace'] === namespace,
    );
  }

  probeCompleted({probe, result, durationMs, pod, container}: ProbeMeasurement): void {
    const type = PROBE_TYPES[probe];
    this.#probes.increase(type, result, container, pod.name, pod.namespace, pod.uid);
    if (result !== 'unknown')
      this.#probeDuration.observe(toSeconds(durationMs), type, container, pod.name, pod.namespace);
  }

  /** Records a notice of the PLEG. */
  pleg(notice: PlegNotice): void {
    this.#pleg.record(notice);
  }

  /** Resolves with the text of /metrics, including `now`, the metrics that are computed for each scrape. */
  async metricsText(now: readonly MetricFamily[]): Promise<string> {
    const own = [this.#nodeName, this.#provider, this.#containersPerPod, this.#podWorker];
    const pods = [
      this.#restartedPods,
      this.#evictions,
      this.#handlingErrors,
      this.#eventLoopBlocks,
      this.#orphansFound,
      this.#orphans,
      this.#orphansErrors,
      this.#preemptions,
    ];
    return formatExposition([
      ...own.map((metric) => metric.family()),
      ...this.#starts.families(),
      ...pods.map((metric) => metric.family()),
      ...this.#pleg.families(),
      ...this.#images.families(),
      ...this.#nodeOperations.families(),
      ...this.#cpus.families(),
      ...this.#plugins.families(),
      ...this.#dra.families(),
      ...this.#numa.families(),
      ...this.#memoryQos.families(),
      ...this.#connections.families(),
      ...this.http.families(),
      ...(await collectProcessMetrics()),
      ...now,
    ]);
  }

  /** Returns the text of /metrics/slis. */
  slisText(): string {
    return formatExposition(this.health.families());
  }

  /** Returns the text of /metrics/probes. */
  probesText(): string {
    return formatExposition([this.#probes.family(), this.#probeDuration.family(), processStartTime()]);
  }
}
