import {compare} from '../../../base/compare.js';

/** Current value of a series. */
export interface Sample {
  /** Suffix of the family's name, such as `_bucket`, `_sum` or `_count`; default none. */
  readonly suffix?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Time of the measurement, in ms since the epoch; undefined for the current time. */
  readonly timestampMs?: number | undefined;
}

/** Stability guarantee of a metric (component-base metrics.StabilityLevel). */
export type StabilityLevel = 'ALPHA' | 'BETA' | 'STABLE';

/** All samples of a metric. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  /** Prefix of the help; undefined for metrics that are not from Kubernetes. */
  readonly stability?: StabilityLevel | undefined;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: readonly Sample[];
}

/** Content-Type of the exposition format. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Formats families in Prometheus' text format 0.0.4, sorted by name; omits families without samples. */
export function formatExposition(families: readonly MetricFamily[]): string {
  return families
    .filter(({samples}) => samples.length > 0)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(familyText)
    .join('');
}

function familyText({name, help, stability, type, samples}: MetricFamily): string {
  const described = stability === undefined ? help : `[${stability}] ${help}`;
  const lines = samples.map(
    ({suffix = '', labels, value, timestampMs}) =>
      `${name}${suffix}${labelText(labels)} ${formatSampleValue(value)}${timestampMs === undefined ? '' : ` ${Math.round(timestampMs)}`}\n`,
  );
  return `# HELP ${name} ${described.replace(/[\\\n]/g, escaped)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

/** Sorts labels by name, like Prometheus' clients; the bound of a bucket comes last. */
function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels)
    .toSorted(([a], [b]) => (a === 'le' ? 1 : b === 'le' ? -1 : compare(a, b)))
    .map(([name, value]) => `${name}="${value.replace(/[\\\n"]/g, escaped)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`;
}

/** Formats a number like Go. */
export function formatSampleValue(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
