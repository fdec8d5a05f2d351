import type {RequestObserver} from '../../../kube-api/index.js';
import type {MetricFamily} from './exposition.js';
import {Counter, Histogram, toSeconds} from './metric-types.js';

const DURATION_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
/** Buckets from 64 bytes to 16 MiB. */
const SIZE_BUCKETS = [64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216];
const LABELS = ['verb', 'host'];

/** Metrics of requests to API servers (component-base metrics/prometheus/restclient). */
export class RestClientMetrics {
  readonly #requests = new Counter({
    name: 'rest_client_requests_total',
    help: 'Number of HTTP requests, partitioned by status code, method, and host.',
    labels: ['code', 'method', 'host'],
  });
  readonly #duration = new Histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Request latency in seconds. Broken down by verb, and host.',
    labels: LABELS,
    buckets: DURATION_BUCKETS,
  });
  readonly #limiter = new Histogram({
    name: 'rest_client_rate_limiter_duration_seconds',
    help: 'Client side rate limiter latency in seconds. Broken down by verb, and host.',
    labels: LABELS,
    buckets: DURATION_BUCKETS,
  });
  readonly #requestSize = new Histogram({
    name: 'rest_client_request_size_bytes',
    help: 'Request size in bytes. Broken down by verb and host.',
    labels: LABELS,
    buckets: SIZE_BUCKETS,
  });
  readonly #responseSize = new Histogram({
    name: 'rest_client_response_size_bytes',
    help: 'Response size in bytes. Broken down by verb and host.',
    labels: LABELS,
    buckets: SIZE_BUCKETS,
  });

  /** Returns the observer of the requests to a host. */
  readonly observe = (host: string): RequestObserver => ({
    waited: (method, durationMs) => {
      this.#limiter.observe(toSeconds(durationMs), method, host);
    },
    responded: ({method, status, requestBytes}) => {
      this.#requests.increase(status === undefined ? '<error>' : String(status), method, host);
      if (requestBytes > 0) this.#requestSize.observe(requestBytes, method, host);
    },
    ended: (method, durationMs) => {
      this.#duration.observe(toSeconds(durationMs), method, host);
    },
    received: (method, bytes) => {
      this.#responseSize.observe(bytes, method, host);
    },
  });

  families(): readonly MetricFamily[] {
    return [this.#requests, this.#duration, this.#limiter, this.#requestSize, this.#responseSize].map(
      (metric) => metric.family(),
    );
  }
}
