import type {MetricFamily} from './exposition.js';
import {Counter, Gauge} from './metric-types.js';

/** Metrics of the results of health checks (component-base metrics/prometheus/slis). */
export class HealthMetrics {
  readonly #now = new Gauge({
    name: 'kubernetes_healthcheck',
    help: 'This metric records the result of a single healthcheck.',
    labels: ['name', 'type'],
    stability: 'STABLE',
  });
  readonly #total = new Counter({
    name: 'kubernetes_healthchecks_total',
    help: 'This metric records the results of all healthcheck.',
    labels: ['name', 'type', 'status'],
    stability: 'STABLE',
  });

  recordCheck(name: string, isHealthy: boolean): void {
    this.#now.set(isHealthy ? 1 : 0, name, 'healthz');
    this.#total.increase(name, 'healthz', isHealthy ? 'success' : 'error');
  }

  families(): readonly MetricFamily[] {
    return [this.#now.family(), this.#total.family()];
  }
}
