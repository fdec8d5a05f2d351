import {describe, expect, test} from 'vitest';
import {matchesGlob} from '../../src/base/glob.js';

describe('matchesGlob', () => {
  test.each([
    ['', '', true],
    ['', 'a', false],
    ['*', '', true],
    ['web', 'web', true],
    ['web', 'web-1', false],
    ['web*', 'web-1', true],
    ['web*', 'my-web', false],
    ['*web', 'my-web', true],
    ['*.io', 'docker.io', true],
    ['a.c', 'abc', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['ab*ba', 'aba', false],
    ['ab*ba', 'abba', true],
    ['a*b*b', 'ab', false],
    ['a*b*b', 'abb', true],
    ['**a**', 'xay', true],
    ['a*c', 'a\nc', true],
  ])('%j against %j returns %s', (glob, text, matches) => {
    expect(matchesGlob(glob, text)).toBe(matches);
  });

  test('a pattern of many stars does not backtrack', () => {
    expect(matchesGlob('*a'.repeat(30) + '*b', 'a'.repeat(10_000))).toBe(false);
  });
});
