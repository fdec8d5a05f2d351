/** A sample line of the Prometheus text format. */
export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Timestamp in ms since the epoch. */
  readonly timestampMs?: number;
}

/** A metric family with its samples. */
export interface ParsedFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly ParsedSample[];
}

/** HTTP response of a metrics endpoint. */
interface ScrapeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const HELP = new RegExp(`^# HELP (${NAME}) ((?:[^\\\\]|\\\\[\\\\n])*)$`);
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram)$`);
const SAMPLE = new RegExp(
  `^(${NAME})(?:\\{(.*)\\})? (NaN|[+-]Inf|-?\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?)(?: (-?\\d+))?$`,
);
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(,(?!$)|$)/y;
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {histogram: ['_bucket', '_sum', '_count']};

/** Returns the samples of all families of the text; throws as `parseFamilies`. */
export function parseExposition(text: string): readonly ParsedSample[] {
  return parseFamilies(text).flatMap(({samples}) => samples);
}

/** Parses the body of a response; throws if its status is not 200 or its content type is another. */
export function parseScrape({status, headers, body}: ScrapeResponse): readonly ParsedFamily[] {
  if (status !== 200) throw new Error(`status ${status}: ${body}`);
  const type = headers['content-type'];
  if (type !== 'text/plain; version=0.0.4; charset=utf-8')
    throw new Error(`bad content type: ${String(type)}`);
  return parseFamilies(body);
}

/**
 * Parses the Prometheus text format 0.0.4. Throws if Prometheus would reject or misinterpret the text:
 * families without HELP, TYPE or samples, duplicate, mixed or unsorted families, conflicting names, invalid
 * escapes, duplicate series or series with other labels than their family, counters that are not counts, and
 * inconsistent histograms.
 */
export function parseFamilies(text: string): readonly ParsedFamily[] {
  if (text === '') return [];
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const families: ParsedFamily[] = [];
  const lines = text.slice(0, -1).split('\n');
  for (let next = 0; next < lines.length;) {
    const family = headOf(lines[next], lines[next + 1]);
    const end = lines.findIndex((line, index) => index >= next + 2 && line.startsWith('#'));
    const familyLines = lines.slice(next + 2, end === -1 ? lines.length : end);
    next += 2 + familyLines.length;
    families.push({...family, samples: familyLines.map((line) => sampleOf(family, line))});
  }
  checkNames(families);
  for (const family of families) checkFamily(family);
  return families;
}

function headOf(helpLine = '', typeLine = ''): Omit<ParsedFamily, 'samples'> {
  const [, name = '', help = ''] = HELP.exec(helpLine) ?? [];
  const [, typed = '', type = ''] = TYPE.exec(typeLine) ?? [];
  if (name === '' || name !== typed) throw new Error(`no HELP and TYPE: ${helpLine} / ${typeLine}`);
  return {name, help, type};
}

function sampleOf({name: family, type}: Omit<ParsedFamily, 'samples'>, line: string): ParsedSample {
  const match = SAMPLE.exec(line);
  if (match === null) throw new Error(`no sample: ${line}`);
  const [, name = '', inner, number = '', timestamp] = match;
  if (!(SUFFIXES[type] ?? ['']).some((suffix) => name === family + suffix))
    throw new Error(`not of the family ${family}: ${line}`);
  return {
    name,
    labels: labelsOf(inner, line),
    value: numberOf(number),
    ...(timestamp !== undefined && {timestampMs: Number(timestamp)}),
  };
}

function labelsOf(inner: string | undefined, line: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  if (inner === undefined) return labels;
  LABEL.lastIndex = 0;
  do {
    const [, name = '', value = ''] = LABEL.exec(inner) ?? [];
    if (name === '' || name.startsWith('__') || name in labels) throw new Error(`bad labels: ${line}`);
    labels[name] = value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
  } while (LABEL.lastIndex < inner.length);
  return labels;
}

function numberOf(text: string): number {
  return Number(text.replace('Inf', 'Infinity'));
}

function checkNames(families: readonly ParsedFamily[]): void {
  const taken = families.flatMap(({name, type}) => [
    name,
    ...(SUFFIXES[type] ?? []).map((suffix) => name + suffix),
  ]);
  for (const [index, name] of taken.entries())
    if (taken.indexOf(name) !== index) throw new Error(`the name ${name} is there twice`);
  const names = families.map(({name}) => name);
  if (names.toSorted().join() !== names.join()) throw new Error('the families are not in order');
}

function checkFamily(family: ParsedFamily): void {
  const {name, help, type, samples} = family;
  if (help === '' || samples.length === 0) throw new Error(`${name} tells nothing`);
  const series = samples.map((sample) => seriesOf(sample));
  if (new Set(series).size < series.length) throw new Error(`${name} has a series twice`);
  const labelSets = samples.map(({labels}) => ownLabels(labels).map(([label]) => label));
  if (new Set(labelSets.map((labels) => labels.join())).size > 1)
    throw new Error(`the series of ${name} have different labels`);
  if (type === 'counter' && samples.some(({value}) => !(value >= 0 && value < Infinity)))
    throw new Error(`${name} is no count`);
  if (type === 'histogram') checkHistogram(family);
  else if (samples.some(({labels}) => 'le' in labels)) throw new Error(`${name} has buckets`);
}

/** Returns all labels except the bound of a bucket, sorted. */
function ownLabels(labels: ParsedSample['labels']): readonly (readonly [string, string])[] {
  return Object.entries(labels)
    .filter(([name]) => name !== 'le')
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function seriesOf({name, labels}: ParsedSample): string {
  return JSON.stringify([name, Object.entries(labels).toSorted()]);
}

function checkHistogram({name, samples}: ParsedFamily): void {
  const keyOf = ({labels}: ParsedSample): string => JSON.stringify(ownLabels(labels));
  for (const key of new Set(samples.map(keyOf)))
    if (
      !isConsistent(
        name,
        samples.filter((sample) => keyOf(sample) === key),
      )
    )
      throw new Error(`the histogram ${name} does not add up`);
}

/** Returns true if the samples of one series are a complete distribution. */
function isConsistent(name: string, samples: readonly ParsedSample[]): boolean {
  const samplesWith = (suffix: string): readonly ParsedSample[] =>
    samples.filter((sample) => sample.name === name + suffix);
  const [sum, ...otherSums] = samplesWith('_sum');
  const [count, ...otherCounts] = samplesWith('_count');
  const buckets = samplesWith('_bucket').map(({labels, value}) => ({
    bound: numberOf(labels['le'] ?? 'NaN'),
    value,
  }));
  if (!Number.isFinite(sum?.value) || otherSums.length + otherCounts.length > 0) return false;
  const last = buckets.at(-1);
  return last?.bound === Infinity && last.value === count?.value && buckets.every(isIncreasing(buckets));
}

function isIncreasing(
  buckets: readonly {readonly bound: number; readonly value: number}[],
): (bucket: {readonly bound: number; readonly value: number}, index: number) => boolean {
  return ({bound, value}, index) => {
    const before = buckets[index - 1] ?? {bound: -Infinity, value: 0};
    return Number.isInteger(value) && value >= before.value && bound > before.bound;
  };
}
