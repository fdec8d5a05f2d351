import type {CsiCall, KubeletMetrics, VolumeOperation} from '../../contract/kubelet-metrics.js';
import type {MetricFamily} from './exposition.js';
import {Gauge, Histogram, toSeconds} from './metric-types.js';

/** Buckets from a tenth of a second to ten minutes (pkg/volume/util/metrics.go). */
const STORAGE_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

/** Metrics of the cgroups and volumes of pods, of the measurements for evictions, and of graceful shutdowns. */
export class NodeOperationMetrics {
  readonly #cgroups = new Histogram({
    name: 'kubelet_cgroup_manager_duration_seconds',
    help: 'Duration in seconds for cgroup manager operations. Broken down by method.',
    labels: ['operation_type'],
  });
  readonly #volumes = new Histogram({
    name: 'storage_operation_duration_seconds',
    help: 'Storage operation duration',
    labels: ['volume_plugin', 'operation_name', 'status', 'migrated'],
    buckets: STORAGE_BUCKETS,
  });
  readonly #volumeTotals = new Histogram({
    name: 'volume_operation_total_seconds',
    help: 'Storage operation end to end duration in seconds',
    labels: ['plugin_name', 'operation_name'],
    buckets: STORAGE_BUCKETS,
  });
  readonly #csiCalls = new Histogram({
    name: 'csi_operations_seconds',
    help: 'Container Storage Interface operation duration with gRPC error code status total',
    labels: ['driver_name', 'method_name', 'grpc_status_code', 'migrated'],
    buckets: STORAGE_BUCKETS,
  });
  readonly #statsAge = new Histogram({
    name: 'kubelet_eviction_stats_age_seconds',
    help: 'Time between when stats are collected, and when pod is evicted based on those stats by eviction signal',
    labels: ['eviction_signal'],
  });

  readonly #shutdownStart = new Gauge({
    name: 'kubelet_graceful_shutdown_start_time_seconds',
    help: 'Last graceful shutdown start time since unix epoch in seconds',
  });
  readonly #shutdownEnd = new Gauge({
    name: 'kubelet_graceful_shutdown_end_time_seconds',
    help: 'Last graceful shutdown end time since unix epoch in seconds',
  });

  constructor() {
    this.nodeShutDown({startedAt: undefined, endedAt: undefined});
  }

  nodeShutDown({startedAt = 0, endedAt = 0}: Parameters<KubeletMetrics['nodeShutDown']>[0]): void {
    this.#shutdownStart.set(Math.floor(toSeconds(startedAt)));
    this.#shutdownEnd.set(Math.floor(toSeconds(endedAt)));
  }

  cgroupManaged(operation: 'create' | 'update' | 'destroy', durationMs: number): void {
    this.#cgroups.observe(toSeconds(durationMs), operation);
  }

  volumeOperated({plugin, operation, isSuccessful, isMigrated = false, durationMs}: VolumeOperation): void {
    const status = isSuccessful ? 'success' : 'fail-unknown';
    this.#volumes.observe(toSeconds(durationMs), plugin, operation, status, String(isMigrated));
  }

  volumeMounted(plugin: string, durationMs: number): void {
    this.#volumeTotals.observe(toSeconds(durationMs), plugin, 'overall_volume_mount');
  }

  csiCallCompleted({driver, method, code, isMigrated, durationMs}: CsiCall): void {
    this.#csiCalls.observe(toSeconds(durationMs), driver, method, code, String(isMigrated));
  }

  evictionStatsUsed(signal: string, ageMs: number): void {
    this.#statsAge.observe(toSeconds(ageMs), signal);
  }

  families(): readonly MetricFamily[] {
    const histograms = [this.#cgroups, this.#volumes, this.#volumeTotals, this.#csiCalls, this.#statsAge];
    return [...histograms, this.#shutdownStart, this.#shutdownEnd].map((metric) => metric.family());
  }
}
