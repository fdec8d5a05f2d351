import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {compileGoTemplate} from '../../src/format/go-template/compile.js';
import {TemplateError} from '../../src/format/template-error.js';
import {parseJson} from '../../src/format/json.js';

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
