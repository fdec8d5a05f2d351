import {expect, test} from 'vitest';
import {allocateDevices} from '../../../../../src/kubelet/managers/dra/allocation/allocate-devices.js';
import {createDeviceSelectors} from '../../../../../src/kubelet/managers/dra/selectors/device-selectors.js';
import {aClass, aSlice, cel, named, request} from './allocation-fixtures.js';

const GPU = {driver: 'gpu.example.com', attributes: {model: {string: 'A100'}}};
const MANY = 'lists.range(1000)';
const EXCEEDED = /^CEL runtime error: operation cancelled: actual cost limit exceeded \(1000000\) in "/;

/** Returns an expression with a value `v` that was doubled some times. */
function doubled(times: number, first: string, last: string, twice = (v: string) => `${v} + ${v}`): string {
  return (
    Array.from({length: times})
      .reduceRight<string>(
        (inner, _, index) => `cel.bind(v${index + 1}, ${twice(`v${index}`)}, ${inner})`,
        last.replaceAll(/\bv\b/g, `v${times}`),
      )
      .replace(/^/, `cel.bind(v0, ${first}, `) + ')'
  );
}

test.each([
  ['nested comprehensions', `${MANY}.all(a, ${MANY}.all(b, ${MANY}.all(c, a + b + c >= 0)))`],
  [
    'nested comprehensions whose error is ignored',
    `${MANY}.all(a, ${MANY}.all(b, a + b < 0 || true)) || true`,
  ],
  ['lists of lists', `${MANY}.map(a, ${MANY}.map(b, ${MANY})).size() > 0`],
  ['a list that grows', doubled(25, '[1]', 'v.size() > 0')],
  [
    'a value that consists of itself many times',
    doubled(25, '[1]', 'v == [v24, v24]', (v) => `[${v}, ${v}]`),
  ],
  ['a string that grows', doubled(40, '"aaaaaaaaaaaaaaaa"', 'v.size() > 0')],
  ['a search in long strings', doubled(16, '"aaaaaaaaaaaaaaaa"', 'v.contains(v.substring(9))')],
  ['replacements in a long string', doubled(10, '"aaaaaaaaaaaaaaaa"', 'v.replace("a", v).size() > 0')],
  ['members of lists', `${MANY}.all(a, !(-1 in ${MANY}))`],
  ['sets', `${MANY}.all(a, sets.contains(${MANY}, ${MANY}))`],
  [
    'keys of a map',
    `cel.bind(m, {${Array.from({length: 700}, (_, key) => `${key}: 1`).join(',')}}, ${MANY}.all(a, ${MANY}.all(b, m.exists(k, true))))`,
  ],
  ['distinct items', `(${MANY} + ${MANY}).distinct().size() == 1000`],
  ['time zones', `${MANY}.all(a, ${MANY}.all(b, timestamp(0).getHours("Europe/Berlin") >= 0))`],
  ['a long duration', doubled(10, '"111111"', 'duration(v) == duration("1s")')],
  ['a regular expression on a long string', doubled(16, '"aaaaaaaaaaaaaaaa"', 'v.matches("(a|aa)+(a|b)*c")')],
  ['a regular expression with many repetitions', `"a".matches("${'a{1000}'.repeat(200)}")`],
  ['regular expressions again and again', `${MANY}.all(a, "aaaaaaa".matches("(a{100}b?){10}") || true)`],
  [
    'matches that are tried again and again',
    doubled(9, '"aaaaaaaaaaaaaaaa"', 'v.findAll("(a*b)|a").size() > 0'),
  ],
])('%s cost too much', (_title, expression) => {
  const {matches} = createDeviceSelectors();
  expect(() => matches(expression, GPU)).toThrow(EXCEEDED);
  expect(matches('true', GPU)).toBe(true);
});

test.each([
  ['backtracking', `"${'a'.repeat(60)}!".matches("^(a+)+$")`, false],
  [
    'an UUID',
    '"0b1c2d3e-aaaa-bbbb-cccc-0123456789ab".matches("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")',
    true,
  ],
  ['flags of RE2', '"GPU".matches("(?i)^gpu\\\\z")', true],
  ['a method by another name', 'device.attributes["gpu.example.com"].model . matches ("^A[0-9]+$")', true],
  ['a string with such a call', '"x.matches(" == "x.matches("', true],
])('a regular expression is that of RE2: %s', (_title, expression, expected) => {
  expect(createDeviceSelectors().matches(expression, GPU)).toBe(expected);
});

test('an expression that reads each of 1000 items many times does not cost too much', () => {
  const model = 'device.attributes["gpu.example.com"].model';
  const expression = `${MANY}.all(a, ${model} == "A100" && ${model}.startsWith("A") && ${model}.matches("^A[0-9]+$"))`;
  expect(createDeviceSelectors().matches(expression, GPU)).toBe(true);
});

test.each([
  [
    'that is too long',
    `true || "${'a'.repeat(10 * 1024)}" == ""`,
    /^CEL compile error: may not be more than 10240 bytes: "true \|\| .{250,300}…"$/,
  ],
  [
    'with an argument that a function of the library does not know',
    'timestamp(0).getHours("nowhere") == 1',
    /^CEL runtime error: Invalid time zone/,
  ],
  [
    'with a value that is nested too deep',
    doubled(18, '"[[[["', 'bytes(v).json() == {}'),
    /^CEL runtime error: /,
  ],
])('an expression %s fails', (_title, expression, message) => {
  expect(() => createDeviceSelectors().matches(expression, GPU)).toThrow(message);
});

test('each evaluation is a step of its own, with its name', () => {
  const evaluated: string[] = [];
  const search = allocateDevices({
    claims: [
      {namespace: 'ns', name: 'c', spec: {devices: {requests: [request('r', {selectors: [cel('b')]})]}}},
    ],
    classes: [aClass('gpu', {selectors: [cel('a')]})],
    slices: [aSlice(named('x', 'y'))],
    node: {name: 'n', matches: () => true},
    allocated: {devices: []},
    newShareId: () => 'share',
    matches: (expression) => {
      evaluated.push(expression);
      return expression === 'a';
    },
  });
  const steps: unknown[] = [];
  for (const name of search) steps.push([name, evaluated.length]);
  expect(steps).toEqual([
    ['claim ns/c, request r, class gpu: selector #0', 0],
    ['claim ns/c, request r: selector #0', 1],
    ['claim ns/c, request r, class gpu: selector #0', 2],
    ['claim ns/c, request r: selector #0', 3],
  ]);
});
