import {describe, expect, test} from 'vitest';
import {formatJson, parseJson, omitNulls} from '../../src/format/json.js';

describe('jsonText', () => {
  test('indents by two spaces and preserves the order of the keys', () => {
    expect(formatJson({b: [1, 'x'], a: {c: null}})).toBe(
      '{\n  "b": [\n    1,\n    "x"\n  ],\n  "a": {\n    "c": null\n  }\n}',
    );
  });

  test('writes empty lists and objects on one line', () => {
    expect(formatJson({list: [], object: {}})).toBe('{\n  "list": [],\n  "object": {}\n}');
  });

  test('sorts keys at every depth with sortKeys', () => {
    expect(formatJson({b: {d: 1, c: 2}, a: true}, {sortKeys: true})).toBe(
      '{\n  "a": true,\n  "b": {\n    "c": 2,\n    "d": 1\n  }\n}',
    );
  });

  test('escapes <, > and & only with escapeHtml', () => {
    expect(formatJson('<&>')).toBe('"<&>"');
    expect(formatJson('<&>', {escapeHtml: true})).toBe(String.raw`"\u003c\u0026\u003e"`);
  });
});

describe('parseJson', () => {
  test('preserves integers above 2^53', () => {
    expect(formatJson(parseJson('{"n":9007199254740993}'))).toBe('{\n  "n": 9007199254740993\n}');
  });

  test.each([
    ['0.12345678901234567890', 0.12345678901234568],
    ['1e30', 1e30],
    ['"12345678901234567890"', '12345678901234567890'],
    [String.raw`"a\"9007199254740993"`, 'a"9007199254740993'],
    ['-9007199254740993', -9007199254740993n],
    ['42', 42],
  ])('%s is preserved', (text, value) => {
    expect(parseJson(text)).toEqual(value);
  });

  test('rejects invalid JSON', () => {
    expect(() => parseJson('{')).toThrow(SyntaxError);
  });
});

test('omitNulls removes null members at every depth', () => {
  expect(omitNulls({a: null, b: {c: null, d: [{e: null}]}, f: ''})).toEqual({b: {d: [{}]}, f: ''});
});
