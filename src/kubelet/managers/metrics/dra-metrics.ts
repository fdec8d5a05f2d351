import type {DraCall, DraOperation} from '../../contract/kubelet-metrics.js';
import type {MetricFamily} from './exposition.js';
import {exponentialBucketsRange, Gauge, Histogram, toSeconds} from './metric-types.js';

/** Bounds of both histograms (DRADurationBuckets). */
const BUCKETS = exponentialBucketsRange(0.1, 40, 15);

/** Metrics of dynamic resource allocation. */
export class DraMetrics {
  readonly #operations = new Histogram({
    name: 'dra_operations_duration_seconds',
    help: "Latency histogram in seconds for the duration of handling all ResourceClaims referenced by a pod when the pod starts or stops. Identified by the name of the operation (PrepareResources or UnprepareResources) and separated by the success of the operation. The number of failed operations is provided through the histogram's overall count.",
    labels: ['operation_name', 'is_error'],
    buckets: BUCKETS,
  });
  readonly #calls = new Histogram({
    name: 'dra_grpc_operations_duration_seconds',
    help: 'Duration in seconds of the DRA gRPC operations',
    labels: ['driver_name', 'method_name', 'grpc_status_code'],
    buckets: BUCKETS,
  });
  readonly #claims = new Gauge({
    name: 'dra_resource_claims_in_use',
    help: 'The number of ResourceClaims that are currently in use on the node, by driver name (driver_name label value) and across all drivers (special value <any> for driver_name). Note that the sum of all by-driver counts is not the total number of in-use ResourceClaims because the same ResourceClaim might use devices from different drivers. Instead, use the count for the <any> driver_name.',
    labels: ['driver_name'],
  });

  called({driver, method, code, durationMs}: DraCall): void {
    this.#calls.observe(toSeconds(durationMs), driver, method, code);
  }

  operated({operation, isFailed, durationMs}: DraOperation): void {
    this.#operations.observe(toSeconds(durationMs), operation, String(isFailed));
  }

  setClaims(counts: ReadonlyMap<string, number>): void {
    this.#claims.deleteMatching(() => true);
    for (const [driver, count] of counts) this.#claims.set(count, driver);
  }

  families(): readonly MetricFamily[] {
    return [this.#operations, this.#calls, this.#claims].map((metric) => metric.family());
  }
}
