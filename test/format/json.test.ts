import {describe, expect, test} from 'vitest';
import {jsonText, parseJson, withoutNulls} from '../../src/format/json.js';

describe('jsonText', () => {
  test('indents by two blanks and keeps the order of the keys', () => {
    expect(jsonText({b: [1, 'x'], a: {c: null}})).toBe(
      '{\n  "b": [\n    1,\n    "x"\n  ],\n  "a": {\n    "c": null\n  }\n}',
    );
  });

  test('writes empty lists and objects on one line', () => {
    expect(jsonText({list: [], object: {}})).toBe('{\n  "list": [],\n  "object": {}\n}');
  });

  test('sorts keys at every depth when asked to', () => {
    expect(jsonText({b: {d: 1, c: 2}, a: true}, {sortKeys: true})).toBe(
      '{\n  "a": true,\n  "b": {\n    "c": 2,\n    "d": 1\n  }\n}',
    );
  });

  test('escapes <, > and & only when asked to', () => {
    expect(jsonText('<&>')).toBe('"<&>"');
    expect(jsonText('<&>', {escapeHtml: true})).toBe(String.raw`"\u003c\u0026\u003e"`);
  });
});

describe('parseJson', () => {
  test('keeps whole numbers above 2^53 exact through to the text', () => {
    expect(jsonText(parseJson('{"n":9007199254740993}'))).toBe('{\n  "n": 9007199254740993\n}');
  });

  test.each([
    ['0.12345678901234567890', 0.12345678901234568],
    ['1e30', 1e30],
    ['"12345678901234567890"', '12345678901234567890'],
    [String.raw`"a\"9007199254740993"`, 'a"9007199254740993'],
    ['-9007199254740993', -9007199254740993n],
    ['42', 42],
  ])('%s stays what it is', (text, value) => {
    expect(parseJson(text)).toEqual(value);
  });

  test('refuses what is no JSON', () => {
    expect(() => parseJson('{')).toThrow(SyntaxError);
  });
});

test('withoutNulls drops null members at every depth', () => {
  expect(withoutNulls({a: null, b: {c: null, d: [{e: null}]}, f: ''})).toEqual({b: {d: [{}]}, f: ''});
});
