import type {CpuUse} from '../../contract/kubelet-metrics.js';
import type {MetricFamily} from './exposition.js';
import {Counter, Gauge} from './metric-types.js';

/** Metrics of the CPU manager. */
export class CpuMetrics {
  readonly #requests = new Counter({
    name: 'kubelet_cpu_manager_pinning_requests_total',
    help: 'The number of cpu core allocations which required pinning.',
  });
  readonly #errors = new Counter({
    name: 'kubelet_cpu_manager_pinning_errors_total',
    help: 'The number of cpu core allocations which required pinning failed.',
  });
  readonly #shared = new Gauge({
    name: 'kubelet_cpu_manager_shared_pool_size_millicores',
    help: 'The size of the shared CPU pool for non-guaranteed QoS pods, in millicores.',
  });
  readonly #exclusive = new Gauge({
    name: 'kubelet_cpu_manager_exclusive_cpu_allocation_count',
    help: 'The total number of CPUs exclusively allocated to containers running on this node',
  });
  readonly #byNumaNode = new Gauge({
    name: 'kubelet_cpu_manager_allocation_per_numa',
    help: 'Number of CPUs allocated per NUMA node',
    labels: ['numa_node'],
  });

  constructor() {
    this.assigned({shared: 0, exclusive: 0, byNumaNode: new Map()});
  }

  pinned(isFailed: boolean): void {
    this.#requests.increase();
    if (isFailed) this.#errors.increase();
  }

  assigned({shared, exclusive, byNumaNode}: CpuUse): void {
    this.#shared.set(shared * 1000);
    this.#exclusive.set(exclusive);
    for (const [node, count] of byNumaNode) this.#byNumaNode.set(count, String(node));
  }

  families(): readonly MetricFamily[] {
    return [this.#requests, this.#errors, this.#shared, this.#exclusive, this.#byNumaNode].map((metric) =>
      metric.family(),
    );
  }
}
