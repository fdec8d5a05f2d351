import type {Clock} from '../../../base/clock.js';
import {CertificateMetrics} from './certificate-metrics.js';
import type {MetricFamily} from './exposition.js';
import {RestClientMetrics} from './rest-client-metrics.js';
import {RuntimeOperationMetrics} from './runtime-operation-metrics.js';

/** Metrics of the connections of a kubelet, which begin before the name of its node is known. */
export class ConnectionMetrics {
  readonly operations: RuntimeOperationMetrics;
  readonly restClient = new RestClientMetrics();
  readonly certificates: CertificateMetrics;

  constructor(clock: Clock) {
    this.operations = new RuntimeOperationMetrics(clock);
    this.certificates = new CertificateMetrics(clock);
  }

  families(): readonly MetricFamily[] {
    return [this.operations, this.restClient, this.certificates].flatMap((part) => part.families());
  }
}
