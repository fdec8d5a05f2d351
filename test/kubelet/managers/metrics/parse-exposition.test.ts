import {expect, test} from 'vitest';
import {parseFamilies, parseScrape} from './parse-exposition.js';

const head = (name: string, type: string): string => `# HELP ${name} help\n# TYPE ${name} ${type}\n`;
const A = `${head('a', 'gauge')}a 1\n`;
const HISTOGRAM = `${head('h', 'histogram')}h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 3\nh_sum 4\nh_count 3\n`;

test('a valid text is parsed completely', () => {
  const text = `${A}${head('b_total', 'counter')}b_total{x="say \\"hi\\"\\\\\\n",y=""} 1.5e+09 1700000000000\n${HISTOGRAM}`;
  const families = parseFamilies(text);
  expect(families.map(({name, type, help}) => [name, type, help])).toEqual([
    ['a', 'gauge', 'help'],
    ['b_total', 'counter', 'help'],
    ['h', 'histogram', 'help'],
  ]);
  expect(families[1]?.samples).toEqual([
    {name: 'b_total', labels: {x: 'say "hi"\\\n', y: ''}, value: 1.5e9, timestampMs: 1_700_000_000_000},
  ]);
});

test.each([
  ['without a final line end', A.trimEnd()],
  ['with an empty line', `${A}\n`],
  ['with a carriage return', A.replace('a 1', 'a 1\r')],
  ['with a comment', `# note\n${A}`],
  ['without HELP', '# TYPE a gauge\na 1\n'],
  ['without TYPE', '# HELP a help\na 1\n'],
  ['with TYPE before HELP', '# TYPE a gauge\n# HELP a help\na 1\n'],
  ['with an unknown type', `${head('a', 'number')}a 1\n`],
  ['with an invalid escape in its help text', '# HELP a \\t\n# TYPE a gauge\na 1\n'],
  ['with a sample without a family', 'a 1\n'],
  ['with a sample of another family', `${A}b 1\n`],
  ['with a duplicate family', `${A}${A}`],
  ['with conflicting names', `${HISTOGRAM}${head('h_count', 'gauge')}h_count 1\n`],
  ['with unsorted families', `${head('b', 'gauge')}b 1\n${A}`],
  ['with a family without samples', head('a', 'gauge')],
  ['with a duplicate series', `${head('a', 'gauge')}a{x="1",y="2"} 1\na{y="2",x="1"} 1\n`],
  ['with different label names in one family', `${head('a', 'gauge')}a{x="1"} 1\na{y="1"} 1\n`],
  ['with a duplicate label', `${head('a', 'gauge')}a{x="1",x="2"} 1\n`],
  ['with a reserved label', `${head('a', 'gauge')}a{__x="1"} 1\n`],
  ['with an invalid escape in a label', `${head('a', 'gauge')}a{x="\\t"} 1\n`],
  ['with an unescaped quote in a label', `${head('a', 'gauge')}a{x="""} 1\n`],
  ['with a trailing comma', `${head('a', 'gauge')}a{x="1",} 1\n`],
  ['with empty braces', `${head('a', 'gauge')}a{} 1\n`],
  ['with an invalid number', `${head('a', 'gauge')}a one\n`],
  ['with infinity as JavaScript formats it', `${head('a', 'gauge')}a Infinity\n`],
  ['with a timestamp in fractional seconds', `${head('a', 'gauge')}a 1 1700000000.5\n`],
  ['with a negative counter', `${head('a_total', 'counter')}a_total -1\n`],
  ['with a counter that is NaN', `${head('a_total', 'counter')}a_total NaN\n`],
  ['with an le label outside a histogram', `${head('a', 'gauge')}a{le="1"} 1\n`],
  ['with a histogram without +Inf', HISTOGRAM.replace('h_bucket{le="+Inf"} 3\n', '')],
  ['with a histogram without a sum', HISTOGRAM.replace('h_sum 4\n', '')],
  ['with a histogram without a count', HISTOGRAM.replace('h_count 3\n', '')],
  ['with a histogram with a wrong count', HISTOGRAM.replace('h_count 3', 'h_count 4')],
  ['with buckets that are not cumulative', HISTOGRAM.replace('le="1"} 2', 'le="1"} 5')],
  ['with bounds that do not increase', HISTOGRAM.replace('le="1"} 2', 'le="1"} 2\nh_bucket{le="0.5"} 2')],
  ['with a bucket without its bound', HISTOGRAM.replace('{le="1"}', '')],
])('a text %s is rejected', (_title, text) => {
  expect(() => parseFamilies(text)).toThrow();
});

test('a response needs the status 200 and the content type of the format', () => {
  const headers = {'content-type': 'text/plain; version=0.0.4; charset=utf-8'};
  expect(parseScrape({status: 200, headers, body: A})).toHaveLength(1);
  expect(() => parseScrape({status: 500, headers, body: A})).toThrow('status 500');
  expect(() => parseScrape({status: 200, headers: {'content-type': 'text/plain'}, body: A})).toThrow(
    'content type',
  );
});
