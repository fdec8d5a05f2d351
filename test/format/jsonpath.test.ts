import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {compileJsonPath} from '../../src/format/jsonpath/compile.js';
import {evaluateJsonPath} from '../../src/format/jsonpath/evaluate.js';
import {parseJsonPath} from '../../src/format/jsonpath/parser.js';
import {parseJson, type Json} from '../../src/format/json.js';
import {TemplateError} from '../../src/format/template-error.js';

interface Recording {
  readonly data: string;
  readonly cases: readonly {readonly template: string; readonly text?: string; readonly error?: string}[];
}

/** Output of kubectl's library (client-go 0.36, missing keys allowed) for each template. */
const {data, cases} = JSON.parse(
  readFileSync(new URL('jsonpath.json', import.meta.url), 'utf8'),
) as Recording;

function render(template: string): {text: string} | {error: string} {
  try {
    return {text: evaluateJsonPath(parseJsonPath(template), parseJson(data))};
  } catch (error) {
    if (error instanceof TemplateError) return {error: error.message};
    throw error;
  }
}

describe('results equal those of kubectl', () => {
  test.each(cases)('$template', ({template, text, error}) => {
    expect(render(template)).toEqual(error === undefined ? {text} : {error});
  });
});

describe('extensions of kubectl’s dialect', () => {
  const labels = {labels: {'io.kubernetes.pod.name': 'web'}, n: 20, b: {k: 1}, a: {k: 2}};

  test.each([
    ['.n', '20'],
    ['n', '20'],
    ["{.labels['io.kubernetes.pod.name']}", 'web'],
    ["['n']", '20'],
    ['{.*.k}', '2 1'],
    ['{.n}{"\\n"}', '20'],
  ])('%s is evaluated to %s', (template, text) => {
    expect(compileJsonPath(template)(labels)).toBe(text);
  });

  test('integers of any size are exact', () => {
    expect(compileJsonPath('{.n}')({n: 9007199254740993n})).toBe('9007199254740993');
    expect(compileJsonPath('{.l[?(@.n>9007199254740992)].n}')({l: [{n: 9007199254740993n}]})).toBe(
      '9007199254740993',
    );
  });

  test('integers and fractions are comparable', () => {
    expect(compileJsonPath('{.l[?(@.n>1.5)].n}')({l: [{n: 1}, {n: 2}]})).toBe('2');
  });

  test.each([
    ['{.a', 'error parsing jsonpath {.a, unclosed action'],
    ['{range .a}x', 'error parsing jsonpath {range .a}x, range without end'],
    ['{.l[?(@.n=1)]}', 'error parsing jsonpath {.l[?(@.n=1)]}, unrecognized filter operator ='],
  ])('%s is rejected when compiled', (template, message) => {
    expect(() => compileJsonPath(template)).toThrow(message);
  });

  test('an error shows only the start of a long template', () => {
    const compile = (): unknown => compileJsonPath(`{.a}${'x'.repeat(10_000)}{`);
    expect(compile).toThrow(/^error parsing jsonpath \{\.a\}x{195}…, unclosed action$/);
    expect(() => compileJsonPath(`{.a[0]}${'x'.repeat(10_000)}`)({a: 1})).toThrow(/^.{50,300}$/);
  });
});

test('ranges nested too deeply and data too deep for the stack are template errors', () => {
  const nested = '{range .}'.repeat(20_000) + '{end}'.repeat(20_000);
  expect(() => compileJsonPath(nested)).toThrow(TemplateError);
  expect(() => compileJsonPath(nested)).toThrow('ranges are nested too deeply');
  let data: Json = [];
  for (let level = 0; level < 20_000; level += 1) data = [data];
  expect(() => compileJsonPath('{..}')(data)).toThrow(/the template is too large/);
});
