import type {PodResourcesCall} from '../../contract/kubelet-metrics.js';
import type {MetricFamily} from './exposition.js';
import {Counter, Histogram, toSeconds} from './metric-types.js';

const BY_VERSION = {labels: ['server_api_version']} as const;

/** Metrics of device plugins and of the pod resources API. */
export class PluginMetrics {
  readonly #registrations = new Counter({
    name: 'kubelet_device_plugin_registration_total',
    help: 'Cumulative number of device plugin registrations. Broken down by resource name.',
    labels: ['resource_name'],
  });
  readonly #allocations = new Histogram({
    name: 'kubelet_device_plugin_alloc_duration_seconds',
    help: 'Duration in seconds to serve a device plugin Allocation request. Broken down by resource name.',
    labels: ['resource_name'],
  });
  readonly #requests = new Counter({
    name: 'kubelet_pod_resources_endpoint_requests_total',
    help: 'Cumulative number of requests to the PodResource endpoint. Broken down by server api version.',
    ...BY_VERSION,
  });
  readonly #methods = {
    list: countRequests('list', 'List'),
    get_allocatable: countRequests('get_allocatable', 'GetAllocatableResources'),
    get: countRequests('get', 'Get'),
  };

  registered(resource: string): void {
    this.#registrations.increase(resource);
  }

  allocated(resource: string, durationMs: number): void {
    this.#allocations.observe(toSeconds(durationMs), resource);
  }

  podResourcesRequested({version, method, isFailed = false}: PodResourcesCall): void {
    this.#requests.increase(version);
    if (method === undefined) return;
    const {requests, errors} = this.#methods[method];
    requests.increase(version);
    if (isFailed) errors.increase(version);
  }

  families(): readonly MetricFamily[] {
    const methods = Object.values(this.#methods).flatMap(({requests, errors}) => [requests, errors]);
    return [this.#registrations, this.#allocations, this.#requests, ...methods].map((metric) =>
      metric.family(),
    );
  }
}

function countRequests(name: string, method: string) {
  return {
    requests: new Counter({
      name: `kubelet_pod_resources_endpoint_requests_${name}`,
      help: `Number of requests to the PodResource ${method} endpoint. Broken down by server api version.`,
      ...BY_VERSION,
    }),
    errors: new Counter({
      name: `kubelet_pod_resources_endpoint_errors_${name}`,
      help: `Number of requests to the PodResource ${method} endpoint which returned error. Broken down by server api version.`,
      ...BY_VERSION,
    }),
  };
}
