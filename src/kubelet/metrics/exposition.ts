import {compare} from '../../base/compare.js';

/** One number of a metric, as it is at the moment. */
export interface Sample {
  /** What follows the family's name: `_bucket`, `_sum`, `_count`; nothing otherwise. */
  readonly suffix?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** When it was measured, ms since the epoch, if that wasn't just now. */
  readonly timestampMs?: number | undefined;
}

/** How much a metric is promised to stay as it is (component-base metrics.StabilityLevel). */
export type StabilityLevel = 'ALPHA' | 'BETA' | 'STABLE';

/** All numbers of one metric. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  /** Stands before the help; absent for what isn't one of Kubernetes' metrics. */
  readonly stability?: StabilityLevel | undefined;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: readonly Sample[];
}

/** The Content-Type of `exposition`. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The families as Prometheus reads them (text format 0.0.4), sorted by name; those without a sample are left out. */
export function exposition(families: readonly MetricFamily[]): string {
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
      `${name}${suffix}${labelText(labels)} ${numberText(value)}${timestampMs === undefined ? '' : ` ${Math.round(timestampMs)}`}\n`,
  );
  return `# HELP ${name} ${described.replace(/[\\\n]/g, escaped)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

/** Sorted by name as Prometheus' own clients do, but for a bucket's bound, which is last. */
function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels)
    .toSorted(([a], [b]) => (a === 'le' ? 1 : b === 'le' ? -1 : compare(a, b)))
    .map(([name, value]) => `${name}="${value.replace(/[\\\n"]/g, escaped)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`;
}

/** A number as Go writes it where JavaScript does so otherwise. */
export function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
