import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {compileGoTemplate} from '../../src/format/go-template/compile.js';
import {TemplateError} from '../../src/format/template-error.js';
import {parseJson, type Json} from '../../src/format/json.js';

interface Recording {
  readonly data: string;
  readonly cases: readonly {readonly template: string; readonly text?: string; readonly error?: string}[];
}

/** What Go 1.27's text/template gave for each template, with crictl's functions and missingkey=error. */
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

describe('what Go does with the same template', () => {
  test.each(cases)('$template', ({template, text, error}) => {
    expect(render(template)).toEqual(error === undefined ? {text} : {error});
  });
});

test('a template that calls itself for ever is an error', () => {
  expect(() => compileGoTemplate('{{define "x"}}{{template "x"}}{{end}}{{template "x"}}')({})).toThrow(
    'exceeded maximum template depth',
  );
});

test('what JavaScript gives every object is no field', () => {
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

describe('what is too much is an error of the template', () => {
  const nested = (open: string): string => open.repeat(20_000) + '{{end}}'.repeat(20_000);

  test.each([
    [
      'a range without an end in sight',
      '{{range 99999999999}}{{end}}',
      /executing "template" at <99999999999>.* steps/,
    ],
    [
      'templates that call each other',
      '{{define "x"}}{{template "y"}}{{template "y"}}{{end}}{{define "y"}}{{end}}{{range 99999999999}}{{template "x"}}{{end}}',
      'steps',
    ],
    [
      'a text that only grows',
      '{{range 99999999}}{{printf "%1000000d" 1}}{{end}}',
      'the text is longer than 67108864 characters',
    ],
    [
      'a value that doubles',
      `{{$x := "xx"}}${'{{$x = print $x $x}}'.repeat(40)}`,
      'at <print $x $x>: error calling print: the text is longer than',
    ],
    [
      'a number too wide for the engine',
      `{{printf "${'%9999999d'.repeat(60)}"${' 1'.repeat(60)}}}`,
      'the template is too large to fill in',
    ],
    [
      'many ifs inside each other',
      nested('{{if true}}'),
      'template: template:1: blocks are nested too deeply',
    ],
    ['many ranges inside each other', nested('{{range .}}'), 'blocks are nested too deeply'],
    ['many blocks inside each other', nested('{{block "x" .}}'), 'blocks are nested too deeply'],
    [
      'a long chain of else if',
      `{{if false}}${'{{else if false}}'.repeat(20_000)}{{end}}`,
      'blocks are nested too deeply',
    ],
  ])('%s', (_, template, message) => {
    expect(failure(template)).toMatch(message);
  });

  test('data too deep for the stack', () => {
    let data: Json = [];
    for (let level = 0; level < 20_000; level += 1) data = [data];
    expect(() => compileGoTemplate('{{.}}')(data)).toThrow(/^the template is too large to fill in/);
  });
});

test('a range over a number takes its else only when it has nothing, and break leaves it', () => {
  expect(render('{{range 3}}{{.}}{{else}}none{{end}}|{{range 0}}x{{else}}none{{end}}')).toEqual({
    text: '012|none',
  });
  expect(render('{{range 99999999999}}{{if eq . 3}}{{break}}{{end}}{{.}}{{else}}none{{end}}')).toEqual({
    text: '012',
  });
});

test('many ifs inside each other that fit', () => {
  expect(render('{{if true}}'.repeat(500) + 'x' + '{{end}}'.repeat(500))).toEqual({text: 'x'});
});
