import {byKey} from '../../../base/compare.js';
import {formatSampleValue, type MetricFamily, type Sample, type StabilityLevel} from './exposition.js';

/** Name, help and labels of a metric. */
export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** Stability of the metric; default ALPHA, like most metrics of the kubelet. */
  readonly stability?: StabilityLevel;
}

/** Separator of label values in a key; no label value contains it. */
const SEPARATOR = '\0';

/** Series of a metric by the values of its labels. */
abstract class Instrument<T> {
  protected readonly options: MetricOptions;
  readonly #series = new Map<string, T>();

  constructor(options: MetricOptions) {
    this.options = options;
  }

  protected at(values: readonly string[], begin: () => T): T {
    const key = values.join(SEPARATOR);
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const begun = begin();
    this.#series.set(key, begun);
    return begun;
  }

  protected put(values: readonly string[], value: T): void {
    this.#series.set(values.join(SEPARATOR), value);
  }

  protected remove(matches: (labels: Readonly<Record<string, string>>) => boolean): void {
    for (const key of this.#series.keys()) if (matches(this.#labels(key))) this.#series.delete(key);
  }

  protected entries(): readonly (readonly [Readonly<Record<string, string>>, T])[] {
    return [...this.#series].toSorted(byKey).map(([key, value]) => [this.#labels(key), value]);
  }

  #labels(key: string): Readonly<Record<string, string>> {
    const {labels = []} = this.options;
    const values = key.split(SEPARATOR);
    return Object.fromEntries(labels.map((label, index) => [label, values[index] ?? '']));
  }

  /** Returns the current samples. */
  abstract family(): MetricFamily;

  protected described(type: MetricFamily['type'], samples: readonly Sample[]): MetricFamily {
    const {name, help, stability = 'ALPHA'} = this.options;
    return {name, help, stability, type, samples};
  }
}

/** Metric that only increases. Without labels, it starts at 0. */
export class Counter extends Instrument<number> {
  constructor(options: MetricOptions) {
    super(options);
    if (options.labels === undefined) this.put([], 0);
  }

  /** Increases the series with these label values, in the order of the labels, by one. */
  increase(...values: readonly string[]): void {
    this.increaseBy(1, ...values);
  }

  increaseBy(amount: number, ...values: readonly string[]): void {
    this.put(values, this.at(values, () => 0) + amount);
  }

  /** Deletes the matching series, such as those of a removed pod. */
  deleteMatching(matches: (labels: Readonly<Record<string, string>>) => boolean): void {
    this.remove(matches);
  }

  family(): MetricFamily {
    const samples = this.entries().map(([labels, value]): Sample => ({labels, value}));
    return this.described('counter', samples);
  }
}

/** Metric that increases and decreases. */
export class Gauge extends Instrument<number> {
  set(value: number, ...values: readonly string[]): void {
    this.put(values, value);
  }

  add(change: number, ...values: readonly string[]): void {
    this.put(values, this.at(values, () => 0) + change);
  }

  /** Deletes the matching series. */
  deleteMatching(matches: (labels: Readonly<Record<string, string>>) => boolean): void {
    this.remove(matches);
  }

  family(): MetricFamily {
    const samples = this.entries().map(([labels, value]): Sample => ({labels, value}));
    return this.described('gauge', samples);
  }
}

interface Distribution {
  /** Number of observations in each bucket, not cumulative. */
  readonly counts: number[];
  sum: number;
  count: number;
}

/** Prometheus' default buckets (DefBuckets). */
export const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Distribution of observations in buckets. */
export class Histogram extends Instrument<Distribution> {
  readonly #buckets: readonly number[];

  constructor(options: MetricOptions & {readonly buckets?: readonly number[]}) {
    super(options);
    this.#buckets = options.buckets ?? DEFAULT_BUCKETS;
    if (options.labels === undefined) this.at([], () => this.#empty());
  }

  observe(value: number, ...values: readonly string[]): void {
    const distribution = this.at(values, () => this.#empty());
    const index = this.#buckets.findIndex((bound) => value <= bound);
    if (index !== -1) distribution.counts[index] = (distribution.counts[index] ?? 0) + 1;
    distribution.sum += value;
    distribution.count += 1;
  }

  /** Deletes the matching series, such as those of a removed pod. */
  deleteMatching(matches: (labels: Readonly<Record<string, string>>) => boolean): void {
    this.remove(matches);
  }

  #empty(): Distribution {
    return {counts: this.#buckets.map(() => 0), sum: 0, count: 0};
  }

  family(): MetricFamily {
    const samples = this.entries().flatMap(([labels, {counts, sum, count}]): readonly Sample[] => {
      let below = 0;
      const buckets = this.#buckets.map((bound, index): Sample => {
        below += counts[index] ?? 0;
        return {suffix: '_bucket', labels: {...labels, le: formatSampleValue(bound)}, value: below};
      });
      return [
        ...buckets,
        {suffix: '_bucket', labels: {...labels, le: '+Inf'}, value: count},
        {suffix: '_sum', labels, value: sum},
        {suffix: '_count', labels, value: count},
      ];
    });
    return this.described('histogram', samples);
  }
}

/** Returns the bounds of `count` buckets, each `factor` times the previous one (ExponentialBuckets). */
export function exponentialBuckets(start: number, factor: number, count: number): readonly number[] {
  const bounds: number[] = [];
  for (let bound = start; bounds.length < count; bound *= factor) bounds.push(bound);
  return bounds;
}

/** Returns the bounds of `count` buckets from `min` to `max`, each the same factor above the last (ExponentialBucketsRange). */
export function exponentialBucketsRange(min: number, max: number, count: number): readonly number[] {
  const factor = (max / min) ** (1 / (count - 1));
  return Array.from({length: count}, (_, index) => min * factor ** index);
}

/**
 * Converts a duration to seconds. Returns at least 0, because a clock can be set back, and NaN would invalidate a sum.
 */
export function toSeconds(ms: number): number {
  return ms > 0 ? ms / 1000 : 0;
}
