import {expect, test} from 'vitest';
import {ConfigError} from '../../../src/base/errors.js';
import {bitSet, countMembers, isSubset, listMembers, unite} from '../../../src/kubelet/resources/bit-set.js';
import {formatCpuSet, parseCpuSet} from '../../../src/kubelet/resources/cpu-set.js';

test.each([
  ['', []],
  ['0', [0]],
  ['1-3', [1, 2, 3]],
  ['0-1,31-33,63-64,127', [0, 1, 31, 32, 33, 63, 64, 127]],
])('CPUs %j are parsed and formatted', (text, cpus) => {
  const set = parseCpuSet(text);
  expect(listMembers(set)).toEqual(cpus);
  expect(set).toBe(bitSet(cpus));
  expect(countMembers(set)).toBe(cpus.length);
  expect(formatCpuSet(set)).toBe(text);
});

test('a list in any order with duplicates is a set', () => {
  expect(formatCpuSet(parseCpuSet('8,0-2,2-3,1-1'))).toBe('0-3,8');
});

test.each([
  ['1-', 'strconv.Atoi: parsing "": invalid syntax'],
  ['a', 'strconv.Atoi: parsing "a": invalid syntax'],
  [' 1', 'strconv.Atoi: parsing " 1": invalid syntax'],
  ['1-2-3', 'strconv.Atoi: parsing "2-3": invalid syntax'],
  ['3-1', 'invalid range "3-1" (3 > 1)'],
  ['0-99999999', 'strconv.Atoi: parsing "99999999": value out of range'],
])('CPUs %j are invalid', (text, message) => {
  expect(() => parseCpuSet(text)).toThrow(new ConfigError(message));
});

test('sets are united and compared', () => {
  expect(unite([1n, 4n, 0n])).toBe(5n);
  expect(isSubset(4n, 5n)).toBe(true);
  expect(isSubset(2n, 5n)).toBe(false);
});
