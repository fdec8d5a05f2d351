import type {MetricFamily} from './exposition.js';
import {Counter, exponentialBuckets, Histogram} from './metric-types.js';

const ALIGNED = {labels: ['scope', 'boundary']} as const;

/** Metrics of the managers of resources that belong to NUMA nodes. */
export class NumaMetrics {
  readonly #admissions = new Counter({
    name: 'kubelet_topology_manager_admission_requests_total',
    help: 'The number of admission requests where resources have to be aligned.',
  });
  readonly #rejections = new Counter({
    name: 'kubelet_topology_manager_admission_errors_total',
    help: 'The number of admission request failures where resources could not be aligned.',
  });
  readonly #durations = new Histogram({
    name: 'kubelet_topology_manager_admission_duration_ms',
    help: 'Duration in milliseconds to serve a pod admission request.',
    buckets: exponentialBuckets(0.05, 2, 15),
  });
  readonly #aligned = new Counter({
    name: 'kubelet_container_aligned_compute_resources_count',
    help: 'Cumulative number of aligned compute resources allocated to containers by alignment type.',
    ...ALIGNED,
  });
  readonly #notAligned = new Counter({
    name: 'kubelet_container_aligned_compute_resources_failure_count',
    help: 'Cumulative number of failures to allocate aligned compute resources to containers by alignment type.',
    ...ALIGNED,
  });
  readonly #pinnings = new Counter({
    name: 'kubelet_memory_manager_pinning_requests_total',
    help: 'The number of memory pages allocations which required pinning.',
  });
  readonly #failedPinnings = new Counter({
    name: 'kubelet_memory_manager_pinning_errors_total',
    help: 'The number of memory pages allocations which required pinning that failed.',
  });

  admitted({durationMs, isFailed}: {readonly durationMs: number; readonly isFailed: boolean}): void {
    this.#admissions.increase();
    if (isFailed) this.#rejections.increase();
    this.#durations.observe(durationMs);
  }

  aligned(scope: 'container' | 'pod', isFailed: boolean): void {
    (isFailed ? this.#notAligned : this.#aligned).increase(scope, 'numa_node');
  }

  memoryPinned(isFailed: boolean): void {
    this.#pinnings.increase();
    if (isFailed) this.#failedPinnings.increase();
  }

  families(): readonly MetricFamily[] {
    return [
      ...[this.#admissions, this.#rejections, this.#durations],
      ...[this.#aligned, this.#notAligned, this.#pinnings, this.#failedPinnings],
    ].map((metric) => metric.family());
  }
}
