import {describe, expect, test} from 'vitest';
import {compileGoRegexp} from '../../../src/operations/filters/go-regexp.js';

describe('compileGoRegexp', () => {
  test.each([
    ['^web', 'web-1', true],
    ['^web', 'my-web', false],
    ['(?i)WEB', 'web', true],
    ['a\\-b', 'a-b', true],
    ['\\.example\\:5000\\/', 'registry.example:5000/app', true],
    ['[[:digit:]]+$', 'web-12', true],
    ['[[:digit:]]$', 'web-x', false],
    ['[^[:alpha:]-]', 'a-b', false],
    ['[]x]', ']', true],
    ['\\Aweb\\z', 'web', true],
    ['\\Aweb\\z', 'web2', false],
    ['(?P<kind>web|api)', 'api', true],
    ['(?:web|api)-\\d{2}', 'api-12', true],
    ['\\Qa.b\\E', 'axb', false],
    ['\\Qa.b', 'a.b', true],
    ['a{', 'a{', true],
    ['x{2,}', 'xx', true],
    ['\\pL', '1', false],
    ['\\x{e9}', 'é', true],
    ['^(?!init)', 'init-1', false],
  ])('matching %s against %s returns %s', (pattern, text, found) => {
    expect(compileGoRegexp(pattern).test(text)).toBe(found);
  });

  test.each([
    ['(', 'missing closing ): `(`'],
    ['web(api', 'missing closing ): `web(api`'],
    ['[', 'missing closing ]: `[`'],
    ['web[ab', 'missing closing ]: `[ab`'],
    ['a)', 'unexpected ): `a)`'],
    ['*', 'missing argument to repetition operator: `*`'],
    ['(*', 'missing argument to repetition operator: `*`'],
    ['a**', 'invalid nested repetition operator: `**`'],
    ['a|*', 'missing argument to repetition operator: `*`'],
    ['a\\', 'trailing backslash at end of expression: ``'],
    ['\\y', 'invalid escape sequence: `\\y`'],
  ])('%s is rejected with Go’s message', (pattern, message) => {
    expect(() => compileGoRegexp(pattern)).toThrow(`error parsing regexp: ${message}`);
  });
});
