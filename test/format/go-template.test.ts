import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {compileGoTemplate} from '../../src/format/go-template/compile.js';
import {TemplateError} from '../../src/format/template-error.js';
import {parseJson, type Json} from '../../src/format/json.js';

interface Recording {
  readonly data: string;
  readonly cases: readonly {readonly template: string; readonly text?: string; readonly error?: string}[];
}

/** Output of Go 1.27's text/template for each template, with crictl's functions and missingkey=error. */
const {data, cases} = JSON.parse(
  readFileSync(new URL('go-template.json', import.meta.url), 'utf8'),
) as Recording;

function render(template: string): {text: string} | {error: string} {
  try {
    return {text: compileGoTemplate(template, 'tmpl')(parseJson(data))};
  } catch (error) {
    if (error instanceof TemplateError) return {error: error.message};
    throw error;
  }
}

describe('results equal those of Go', () => {
  test.each(cases)('$template', ({template, text, error}) => {
    expect(render(template)).toEqual(error === undefined ? {text} : {error});
  });
});

test.each([
  ['{{call .s}}', '<call .s>: error calling call: non-function .s of type string'],
  ['{{call .n 1 "x"}}', '<call .n 1 "x">: error calling call: non-function .n of type json.Number'],
  ['{{call 1}}', '<call 1>: error calling call: non-function 1 of type int'],
  ['{{call . }}', '<call .>: error calling call: non-function . of type map[string]interface {}'],
  ['{{.s | call}}', '<call>: error calling call: non-function text of type string'],
  [
    '{{. | call}}',
    '<call>: error calling call: non-function <map[string]interface {} Value> of type map[string]interface {}',
  ],
  ['{{call nil}}', '<call nil>: error calling call: call of nil'],
  ['{{call .z}}', '<call .z>: error calling call: call of nil'],
  ['{{call}}', '<call>: wrong number of args for call: want at least 1 got 0'],
])('%s fails as in Go, since no value of JSON is a function', (template, message) => {
  const run = (): string => compileGoTemplate(template, 'tmpl')({s: 'text', n: 5, z: null});
  expect(run).toThrow(message);
});

test('infinite recursion of a template is an error', () => {
  expect(() => compileGoTemplate('{{define "x"}}{{template "x"}}{{end}}{{template "x"}}')({})).toThrow(
    'exceeded maximum template depth',
  );
});

test('properties of Object.prototype are not fields', () => {
  expect(() => compileGoTemplate('{{.constructor}}')({})).toThrow('map has no entry for key "constructor"');
});

function failure(template: string): string {
  try {
    return `no error but ${compileGoTemplate(template)({}).length} characters`;
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

describe('templates beyond a limit are rejected', () => {
  const nested = (open: string): string => open.repeat(20_000) + '{{end}}'.repeat(20_000);

  test.each([
    ['a very long range', '{{range 99999999999}}{{end}}', /executing "template" at <99999999999>.* steps/],
    [
      'templates that call each other too often',
      '{{define "x"}}{{template "y"}}{{template "y"}}{{end}}{{define "y"}}{{end}}{{range 99999999999}}{{template "x"}}{{end}}',
      'steps',
    ],
    [
      'a text that grows without limit',
      '{{range 99999999}}{{printf "%1000000d" 1}}{{end}}',
      'the text is longer than 67108864 characters',
    ],
    [
      'a value that doubles',
      `{{$x := "xx"}}${'{{$x = print $x $x}}'.repeat(40)}`,
      'at <print $x $x>: error calling print: the text is longer than',
    ],
    [
      'a number with too many digits',
      `{{printf "${'%9999999d'.repeat(60)}"${' 1'.repeat(60)}}}`,
      'the template is too large',
    ],
    ['many nested ifs', nested('{{if true}}'), 'template: template:1: blocks are nested too deeply'],
    ['many nested ranges', nested('{{range .}}'), 'blocks are nested too deeply'],
    ['many nested blocks', nested('{{block "x" .}}'), 'blocks are nested too deeply'],
    [
      'a long chain of else if',
      `{{if false}}${'{{else if false}}'.repeat(20_000)}{{end}}`,
      'blocks are nested too deeply',
    ],
  ])('%s', (_, template, message) => {
    expect(failure(template)).toMatch(message);
  });

  test('data too deep for the stack is an error', () => {
    let data: Json = [];
    for (let level = 0; level < 20_000; level += 1) data = [data];
    expect(() => compileGoTemplate('{{.}}')(data)).toThrow(/^the template is too large/);
  });
});

test('a range over a number uses else only for 0, and supports break', () => {
  expect(render('{{range 3}}{{.}}{{else}}none{{end}}|{{range 0}}x{{else}}none{{end}}')).toEqual({
    text: '012|none',
  });
  expect(render('{{range 99999999999}}{{if eq . 3}}{{break}}{{end}}{{.}}{{else}}none{{end}}')).toEqual({
    text: '012',
  });
});

test('many nested ifs below the limit are evaluated', () => {
  expect(render('{{if true}}'.repeat(500) + 'x' + '{{end}}'.repeat(500))).toEqual({text: 'x'});
});
