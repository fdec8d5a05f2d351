import type {MetricFamily} from './exposition.js';
import {Counter, Gauge, Histogram} from './metric-types.js';

/** Labels of a request. None of them is free text from a client. */
export interface HttpRequestKind {
  /** HTTP method, or `other`. */
  readonly method: string;
  /** Root of the path, such as `containerLogs` or `metrics/probes`; `other` for unknown paths. */
  readonly path: string;
  readonly serverType: 'readonly' | 'readwrite';
  readonly longRunning: boolean;
}

const LABELS = ['method', 'path', 'server_type', 'long_running'];

/** Metrics of HTTP requests (server/metrics). */
export class HttpMetrics {
  readonly #total = new Counter({
    name: 'kubelet_http_requests_total',
    help: 'Number of the http requests received since the server started',
    labels: LABELS,
  });
  readonly #duration = new Histogram({
    name: 'kubelet_http_requests_duration_seconds',
    help: 'Duration in seconds to serve http requests',
    labels: LABELS,
  });
  readonly #inFlight = new Gauge({
    name: 'kubelet_http_inflight_requests',
    help: 'Number of the inflight http requests',
    labels: LABELS,
  });

  /** Records the start of a request; call the returned function with the duration in seconds when it ends. */
  startRequest({method, path, serverType, longRunning}: HttpRequestKind): (seconds: number) => void {
    const values = [method, path, serverType, String(longRunning)];
    this.#total.increase(...values);
    this.#inFlight.add(1, ...values);
    return (seconds) => {
      this.#inFlight.add(-1, ...values);
      this.#duration.observe(seconds, ...values);
    };
  }

  families(): readonly MetricFamily[] {
    return [this.#total, this.#duration, this.#inFlight].map((metric) => metric.family());
  }
}
