/** A line of numbers of an exposition. */
export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (NaN|[+-]Inf|[-+0-9.eE]+)(?: (-?\d+))?$/;

/**
 * Reads the text format 0.0.4 and throws for whatever Prometheus would not take, or would not understand as meant: a
 * family twice, samples without their family, series twice, histograms that don't add up.
 */
export function parseExposition(text: string): readonly ParsedSample[] {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const types = new Map<string, string>();
  const samples: ParsedSample[] = [];
  let family = '';
  for (const line of text.slice(0, -1).split('\n')) {
    if (line.startsWith('# ')) family = takeComment(line, family, types);
    else samples.push(ownSample(line, family, types.get(family)));
  }
  const keys = samples.map(({name, labels}) => `${name} ${JSON.stringify(Object.entries(labels).sort())}`);
  if (new Set(keys).size < keys.length) throw new Error('a series is there twice');
  checkHistograms(types, samples);
  return samples;
}

/** The family that is told of from here on. */
function takeComment(line: string, family: string, types: Map<string, string>): string {
  const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
  if (keyword === 'HELP' && !types.has(name)) return name;
  if (keyword !== 'TYPE' || name !== family || !['counter', 'gauge', 'histogram'].includes(rest))
    throw new Error(`bad ${line}`);
  types.set(name, rest);
  return name;
}

function ownSample(line: string, family: string, type: string | undefined): ParsedSample {
  const sample = parseSample(line);
  const allowed = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
  if (type === undefined || !allowed.some((suffix) => sample.name === family + suffix))
    throw new Error(`stray ${line}`);
  return sample;
}

function parseSample(line: string): ParsedSample {
  const match = SAMPLE.exec(line);
  if (match === null) throw new Error(`no sample: ${line}`);
  const [, name = '', inner = '', number = ''] = match;
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < inner.length) {
    const label = LABEL.exec(inner);
    if (label === null) throw new Error(`bad labels: ${line}`);
    labels[label[1]!] = label[2]!.replace(/\\(.)/g, (_, character: string) =>
      character === 'n' ? '\n' : character,
    );
  }
  const value = Number(number.replace('Inf', 'Infinity'));
  if (Number.isNaN(value) && number !== 'NaN') throw new Error(`no number: ${line}`);
  return {name, labels, value};
}

function checkHistograms(types: ReadonlyMap<string, string>, samples: readonly ParsedSample[]): void {
  for (const [family, type] of types) {
    if (type !== 'histogram') continue;
    for (const {labels, value} of samples.filter(({name}) => name === `${family}_count`)) {
      const own = (labelled: Readonly<Record<string, string>>) =>
        Object.entries(labels).every(([name, text]) => labelled[name] === text);
      const buckets = samples
        .filter((sample) => sample.name === `${family}_bucket` && own(sample.labels))
        .map((sample) => ({
          bound: Number(sample.labels['le']?.replace('Inf', 'Infinity')),
          count: sample.value,
        }));
      const isRising = buckets.every(
        ({bound, count}, index) =>
          index === 0 || (bound > buckets[index - 1]!.bound && count >= buckets[index - 1]!.count),
      );
      const last = buckets.at(-1);
      if (!isRising || last?.bound !== Infinity || last.count !== value)
        throw new Error(`the histogram ${family} does not add up`);
    }
  }
}
