import type {ImageEnsureRequest} from '../../contract/kubelet-metrics.js';
import type {MetricFamily} from './exposition.js';
import {Counter, Histogram} from './metric-types.js';

const MIB = 2n ** 20n;
const GIB = 2n ** 30n;
/** Labels of image sizes with their lower bounds (imageSizeBuckets), largest first. */
const SIZES: readonly (readonly [bigint, string])[] = [
  [100n * GIB, 'GT100GB'],
  [60n * GIB, '60GB-100GB'],
  [40n * GIB, '40GB-60GB'],
  [30n * GIB, '30GB-40GB'],
  [20n * GIB, '20GB-30GB'],
  [10n * GIB, '10GB-20GB'],
  [5n * GIB, '5GB-10GB'],
  [GIB, '1GB-5GB'],
  [500n * MIB, '500MB-1GB'],
  [100n * MIB, '100MB-500MB'],
  [10n * MIB, '10MB-100MB'],
  [1n, '0-10MB'],
];
/** Buckets in seconds, from one second to one hour (imagePullDurationBuckets). */
const PULL_BUCKETS = [1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600];

/** Metrics of image pulls and image GC (pkg/kubelet/images). */
export class ImageMetrics {
  readonly #ensured = new Counter({
    name: 'kubelet_image_manager_ensure_image_requests_total',
    help: 'Number of ensure-image requests processed by the kubelet.',
    labels: ['pull_policy', 'present_locally', 'pull_required'],
  });
  readonly #pulls = new Histogram({
    name: 'kubelet_image_pull_duration_seconds',
    help: 'Duration in seconds to pull an image.',
    labels: ['image_size_in_bytes'],
    buckets: PULL_BUCKETS,
  });
  readonly #collected = new Counter({
    name: 'kubelet_image_garbage_collected_total',
    help: 'Total number of images garbage collected by the kubelet, whether through disk usage or image age.',
    labels: ['reason'],
  });

  ensured({pullPolicy, isPresent, mustPull}: ImageEnsureRequest): void {
    this.#ensured.increase(
      pullPolicy.toLowerCase(),
      String(isPresent ?? 'unknown'),
      String(mustPull ?? 'unknown'),
    );
  }

  pulled(sizeBytes: bigint, seconds: number): void {
    const [, size = 'N/A'] = SIZES.find(([least]) => sizeBytes >= least) ?? [];
    this.#pulls.observe(seconds, size);
  }

  collected(reason: 'age' | 'space'): void {
    this.#collected.increase(reason);
  }

  families(): readonly MetricFamily[] {
    return [this.#ensured, this.#pulls, this.#collected].map((metric) => metric.family());
  }
}
