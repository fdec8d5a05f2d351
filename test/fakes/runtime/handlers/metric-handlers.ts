import type {FakeRuntimeState} from '../fake-runtime-state.js';
import {paginate} from '../fake-runtime-state.js';
import type {Handlers, DeepPartial, Message} from '../cri-messages.js';

const DESCRIPTORS: readonly DeepPartial<Message<'MetricDescriptor'>>[] = [
  {
    name: 'container_cpu_usage_seconds_total',
    help: 'Cumulative cpu time consumed in seconds.',
    labelKeys: ['id', 'name', 'cpu'],
  },
  {
    name: 'container_network_receive_bytes_total',
    help: 'Cumulative count of bytes received',
    labelKeys: ['id', 'name', 'interface'],
  },
];

/** The metric RPCs in the format of CRI-O: one metric per sandbox and one per running container. */
export function metricHandlers(state: FakeRuntimeState): Handlers {
  return {
    ListMetricDescriptors: () => ({descriptors: DESCRIPTORS}),
    ListPodSandboxMetrics: () => ({podMetrics: podMetrics(state)}),
    *StreamPodSandboxMetrics() {
      for (const podSandboxMetrics of paginate(podMetrics(state))) yield {podSandboxMetrics};
    },
  };
}

function podMetrics(state: FakeRuntimeState): DeepPartial<Message<'PodSandboxMetrics'>>[] {
  const timestamp = String(state.uniqueNowNanos());
  return [...state.sandboxes.values()]
    .filter((sandbox) => sandbox.state === 'SANDBOX_READY')
    .map(({id, config}) => ({
      podSandboxId: id,
      metrics: [
        {
          name: 'container_network_receive_bytes_total',
          timestamp,
          metricType: 'COUNTER',
          labelValues: [id, config.metadata?.name ?? '', 'eth0'],
          value: {value: '1000'},
        },
      ],
      containerMetrics: state
        .containersOf(id)
        .filter((container) => container.state === 'CONTAINER_RUNNING')
        .map((container) => ({
          containerId: container.id,
          metrics: [
            {
              name: 'container_cpu_usage_seconds_total',
              timestamp,
              metricType: 'COUNTER',
              labelValues: [container.id, container.config.metadata?.name ?? '', 'total'],
              value: {value: '7'},
            },
          ],
        })),
    }));
}
