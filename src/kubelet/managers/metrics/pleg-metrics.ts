import {timestampOf, type Clock} from '../../../base/clock.js';
import type {PlegNotice} from '../pleg/pleg-notice.js';
import type {MetricFamily} from './exposition.js';
import {Counter, Gauge, Histogram, toSeconds} from './metric-types.js';

/** Metrics of the notices of the PLEG (pkg/kubelet/metrics, kubelet_pleg_* and kubelet_evented_pleg_*). */
export class PlegMetrics {
  readonly #clock: Clock;
  readonly #relistDuration = new Histogram({
    name: 'kubelet_pleg_relist_duration_seconds',
    help: 'Duration in seconds for relisting pods in PLEG.',
  });
  readonly #relistInterval = new Histogram({
    name: 'kubelet_pleg_relist_interval_seconds',
    help: 'Interval in seconds between relisting in PLEG.',
  });
  readonly #lastSeen = new Gauge({
    name: 'kubelet_pleg_last_seen_seconds',
    help: 'Timestamp in seconds when PLEG was last seen active.',
  });
  readonly #discarded = new Counter({
    name: 'kubelet_pleg_discard_events',
    help: 'The number of discard events in PLEG.',
  });
  readonly #streamSuccesses = new Counter({
    name: 'kubelet_evented_pleg_connection_success_count',
    help: 'The number of times a streaming client was obtained to receive CRI Events.',
  });
  readonly #streamErrors = new Counter({
    name: 'kubelet_evented_pleg_connection_error_count',
    help: 'The number of errors encountered during the establishment of streaming connection with the CRI runtime.',
  });
  readonly #streamLatency = new Histogram({
    name: 'kubelet_evented_pleg_connection_latency_seconds',
    help: 'The latency of streaming connection with the CRI runtime, measured in seconds.',
  });
  /** Start time of the last relist, in ms of the monotonic clock. */
  #relistedAt: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  record(notice: PlegNotice): void {
    if (notice.kind === 'relisted') this.#relisted(notice.durationMs);
    else if (notice.kind === 'event-discarded') this.#discarded.increase();
    else if (notice.kind === 'event-received') this.#streamLatency.observe(toSeconds(notice.delayMs));
    else if (notice.kind === 'stream-trusted') this.#streamSuccesses.increase();
    else if (notice.kind === 'stream-failed') this.#streamErrors.increase();
  }

  #relisted(durationMs: number): void {
    const startedAt = this.#clock.monotonic() - durationMs;
    this.#relistDuration.observe(toSeconds(durationMs));
    if (this.#relistedAt !== undefined) this.#relistInterval.observe(toSeconds(startedAt - this.#relistedAt));
    this.#relistedAt = startedAt;
    this.#lastSeen.set(timestampOf(this.#clock, startedAt) / 1000);
  }

  families(): readonly MetricFamily[] {
    return [
      this.#relistDuration,
      this.#relistInterval,
      this.#lastSeen,
      this.#discarded,
      this.#streamSuccesses,
      this.#streamErrors,
      this.#streamLatency,
    ].map((metric) => metric.family());
  }
}
