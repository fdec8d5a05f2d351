import type {VolumeOperation} from '../../contract/kubelet-metrics.js';
import type {MetricFamily} from './exposition.js';
import {Histogram, toSeconds} from './metric-types.js';

/** Buckets from a tenth of a second to ten minutes (pkg/volume/util/metrics.go). */
const STORAGE_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

/** Metrics of the cgroups and volumes of pods, and of the measurements for evictions. */
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
  readonly #statsAge = new Histogram({
    name: 'kubelet_eviction_stats_age_seconds',
    help: 'Time between when stats are collected, and when pod is evicted based on those stats by eviction signal',
    labels: ['eviction_signal'],
  });

  cgroupManaged(operation: 'create' | 'update' | 'destroy', durationMs: number): void {
    this.#cgroups.observe(toSeconds(durationMs), operation);
  }

  volumeOperated({plugin, operation, isSuccessful, durationMs}: VolumeOperation): void {
    const status = isSuccessful ? 'success' : 'fail-unknown';
    this.#volumes.observe(toSeconds(durationMs), plugin, operation, status, 'false');
  }

  evictionStatsUsed(signal: string, ageMs: number): void {
    this.#statsAge.observe(toSeconds(ageMs), signal);
  }

  families(): readonly MetricFamily[] {
    return [this.#cgroups, this.#volumes, this.#statsAge].map((metric) => metric.family());
  }
}
