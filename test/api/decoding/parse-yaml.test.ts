import {describe, expect, test} from 'vitest';
import type {ManifestNode} from '../../../src/api/decoding/manifest-node.js';
import {parseYaml} from '../../../src/api/decoding/parse-yaml.js';
import {YAML_SCALARS} from './yaml-scalars.js';

function toJson(node: ManifestNode | undefined): string {
  if (node === undefined) return 'null';
  if (node.kind === 'list') return `[${node.items.map(toJson).join()}]`;
  if (node.kind === 'scalar')
    return typeof node.value === 'bigint' ? String(node.value) : JSON.stringify(node.value);
  return `{${[...node.entries].map(([key, {value}]) => `${JSON.stringify(key)}:${toJson(value)}`).join()}}`;
}

/** Returns the documents of a text as JSON, or the problems of a document with their offsets. */
function documentsOf(text: string): string[] {
  return parseYaml(text).map(({root, problems}) =>
    problems.length === 0
      ? toJson(root)
      : problems.map(({offset, message}) => `${offset}: ${message}`).join('; '),
  );
}

/** Returns the value of `a` as JSON; undefined if the text is invalid. */
function memberOf(text: string): string | undefined {
  const [{root, problems} = {root: undefined, problems: []}] = parseYaml(text);
  const value = root?.kind === 'map' ? root.entries.get('a')?.value : undefined;
  return problems.length > 0 ? undefined : toJson(value);
}

function keyOf(text: string): string | undefined {
  const [{root, problems} = {root: undefined, problems: []}] = parseYaml(text);
  return problems.length > 0 || root?.kind !== 'map' ? undefined : [...root.entries.keys()][0];
}

test.each([
  ['a: |\n  b\n  c', '"b\\nc"'],
  ['a: |+\n  b', '"b"'],
  ['a: >\n  b\n  c', '"b c"'],
  ['a: |\n  b\n', '"b\\n"'],
  ['a: |\n  b\n ', '"b\\n"'],
  ['a: |-\n  b', '"b"'],
])('the block of %j ends with a line break only if its text does', (text, json) => {
  expect(memberOf(text)).toBe(json);
});

describe('scalars have the values of the YAML library of Kubernetes', () => {
  test.each(YAML_SCALARS)('%s', (scalar, json, key) => {
    // JSON does not distinguish -0.
    expect(memberOf(`a: ${scalar}\n`)).toBe(json === '-0' ? '0' : json);
    expect(keyOf(`${scalar}: b\n`)).toBe(key);
  });
});

test.each([
  ['a: .inf', '3: unsupported value: +Inf'],
  ['a: [1, -.INF]', '7: unsupported value: -Inf'],
  ['a: {b: .NaN}', '7: unsupported value: NaN'],
  ['~: b', '0: unsupported key: null'],
  ['18446744073709551615: b', '0: unsupported key: a number above int64'],
  ['a: !!int abc', '3: cannot decode !!str `abc` as a !!int'],
  ['a: !!float 1e999', '3: cannot decode !!str `1e999` as a !!float'],
  ['a: !!binary ab', '3: !!binary value contains invalid base64 data'],
])('%s is an error with its position', (text, problem) => {
  expect(documentsOf(text)).toEqual([expect.stringMatching(/^\d+: /)]);
  expect(documentsOf(text)[0]?.replace(/^\d+/, '')).toBe(problem.replace(/^\d+/, ''));
});

describe('JSON objects need no separator', () => {
  const a = '{"a":1}';
  const b = '{"b":[2]}';
  test.each([
    ['on one line', a + b],
    ['on lines of their own', `${a}\n${b}\n`],
    ['with Windows line ends', `${a}\r\n${b}\r\n`],
    ['after a tab', `${a}\t${b}`],
    ['indented, after empty lines', '\n\n  {\n    "a": 1\n  }\n{\n    "b": [\n        2\n    ]\n}\n'],
    ['with YAML separators', `${a}\n---\n${b}`],
    ['with a separator on the line of the object', `${a} ---\n${b}`],
    ['and YAML may follow the first', `${a}\nb:\n- 2\n`],
    ['and indented YAML may follow the first', `${a}\n  b:\n  - 2\n`],
    ['and a flow mapping may follow the first', `${a}{b: [2]}`],
  ])('%s', (_how, text) => {
    expect(documentsOf(text)).toEqual(['{"a":1}', '{"b":[2]}']);
  });

  test('with braces and quotation marks in strings', () => {
    const first = '{"a":"}{\\"{\\\\"}';
    expect(documentsOf(`${first}${b}${a}`)).toEqual([first, b, a]);
  });

  test('and offsets are those of the text', () => {
    const [, second] = parseYaml(`${a}\n ${b}`);
    const member = second?.root?.kind === 'map' ? second.root.entries.get('b') : undefined;
    expect([second?.root?.offset, member?.keyOffset, member?.value.offset]).toEqual([9, 10, 14]);
  });
});

test.each([
  [
    '{"a":1}{"b":2}garbage',
    '14: invalid character \'g\' after JSON objects: put "---" between all documents',
  ],
  [
    '{"a":1}\n{"b":2}\nc: d',
    '16: invalid character \'c\' after JSON objects: put "---" between all documents',
  ],
  ['{"a":1}{"b":2}\n---\n{"c":3}', "15: invalid character '-' after JSON objects"],
  ['{"a":1} {"b":2} }', "16: invalid character '}' after JSON objects"],
  ['{"a":1}{"b":2}{"c":3', '14: invalid JSON object after other JSON objects'],
  ['{"a":1}}', '7: unexpected flow-map-end token'],
  ['{"a":1},{"b":2}', '7: plain value cannot start with flow indicator character ,'],
  ['{"a":1}\n{"b":2', '14: flow map must end with a }'],
])('the rest of %j is an error with its position', (text, message) => {
  expect(documentsOf(text).at(-1)).toContain(message);
  expect(documentsOf(text)[0]).toBe('{"a":1}');
});

test('of a duplicate key, the last value and both positions are kept', () => {
  const [document] = parseYaml('a: 1\nb: 2\na: 3\n');
  expect(toJson(document?.root)).toBe('{"a":3,"b":2}');
  expect(document?.problems).toEqual([{offset: 10, duplicateOf: 0, message: 'key "a" already set in map'}]);
});

test.each([
  ['a: [b\n, c]\nd: e\n', '{"a":["b","c"],"d":"e"}'],
  ['a:\n  b: {c: 1,\nd: [\n"e"\n]}\n  f: 2\n', '{"a":{"b":{"c":1,"d":["e"]},"f":2}}'],
  ['a:\n  b: \'c\n  d\'\n  e: "f\ng"\n', '{"a":{"b":"c d","e":"f g"}}'],
])('lines inside of brackets and quotes need no indentation: %j', (text, json) => {
  const [document] = parseYaml(text);
  expect([toJson(document?.root), document?.problems]).toEqual([json, []]);
});

test.each([
  ['a: {b: 1, <<: {b: 2, c: 3}}', '{"a":{"b":2,"c":3}}'],
  ['a: {<<: {b: 2, c: 3}, b: 1}', '{"a":{"b":1,"c":3}}'],
  ['a: {<<: [{b: 1}, {b: 2, c: 3}]}', '{"a":{"b":1,"c":3}}'],
  ['a: {<<: {b: 1}, <<: {b: 2}}', '{"a":{"b":2}}'],
])('entries below replace those above, also those of merge keys: %s', (text, json) => {
  const [document] = parseYaml(text);
  expect([toJson(document?.root), document?.problems]).toEqual([json, []]);
});
