import type {KubeletMetrics} from '../../contract/kubelet-metrics.js';
import type {MetricFamily} from './exposition.js';
import {Gauge} from './metric-types.js';

/** Metrics of memory QoS. Without the feature gate nothing sets them, and they are not exposed. */
export class MemoryQosMetrics {
  readonly #min = new Gauge({
    name: 'kubelet_memory_qos_node_memory_min_bytes',
    help: 'Total cgroup v2 memory.min in bytes for Guaranteed pods. This memory is hard-reserved and never reclaimed by the kernel.',
  });
  readonly #low = new Gauge({
    name: 'kubelet_memory_qos_node_memory_low_bytes',
    help: 'Total cgroup v2 memory.low in bytes for Burstable pods. This memory is soft-reserved and may be reclaimed under extreme pressure.',
  });

  setProtected({guaranteed, burstable}: Parameters<KubeletMetrics['memoryProtected']>[0]): void {
    this.#min.set(Number(guaranteed));
    this.#low.set(Number(burstable));
  }

  families(): readonly MetricFamily[] {
    return [this.#min, this.#low].map((metric) => metric.family());
  }
}
