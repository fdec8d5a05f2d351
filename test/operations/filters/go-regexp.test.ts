import {describe, expect, test} from 'vitest';
import {compileGoRegexp} from '../../../src/operations/filters/go-regexp.js';

describe('compileGoRegexp', () => {
  test.each([
    ['^web', 'web-1', true],
    ['^web', 'my-web', false],
    ['(?i)WEB', 'web', true],
    ['(?i:ETCD)', 'my-etcd', true],
    ['e(?i)TCD', 'etcd', true],
    ['e(?i)TCD', 'Etcd', false],
    ['(?U)e.*', 'etcd', true],
    ['(?s-i:a.b)', 'a\nb', true],
    ['a\\-b', 'a-b', true],
    ['\\.example\\:5000\\/', 'registry.example:5000/app', true],
    ['[[:digit:]]+$', 'web-12', true],
    ['[[:digit:]]$', 'web-x', false],
    ['[^[:alpha:]-]', 'a-b', false],
    ['[]x]', ']', true],
    ['\\Aweb\\z', 'web', true],
    ['\\Aweb\\z', 'web2', false],
    ['(?P<kind>web|api)', 'api', true],
    ['(?<kind>web|api)', 'api', true],
    ['(?:web|api)-\\d{2}', 'api-12', true],
    ['\\Qa.b\\E', 'axb', false],
    ['\\Qa.b', 'a.b', true],
    ['a{', 'a{', true],
    ['x{2,}', 'xx', true],
    ['\\pL', '1', false],
    ['\\p{Greek}', 'α', true],
    ['\\x{e9}', 'é', true],
    ['^.$', '😀', true],
    ['(a+)+$', `${'a'.repeat(40)}!`, false],
    ['^(a|a)*(a|a)*(a|a)*$', `${'a'.repeat(10_000)}!`, false],
  ])('matching %s against %s returns %s', async (pattern, text, found) => {
    expect((await compileGoRegexp(pattern)).test(text)).toBe(found);
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
    ['\\1', 'invalid escape sequence: `\\1`'],
    ['\\cA', 'invalid escape sequence: `\\c`'],
    ['\\u0041', 'invalid escape sequence: `\\u`'],
    ['(?=x)', 'invalid or unsupported Perl syntax: `(?=`'],
    ['(?!x)', 'invalid or unsupported Perl syntax: `(?!`'],
    ['(?<=x)y', 'invalid named capture: `(?<=x)y`'],
    ['(?<!x)y', 'invalid named capture: `(?<!x)y`'],
    ['(?x)a', 'invalid or unsupported Perl syntax: `(?x`'],
    ['(?P=name)', 'invalid or unsupported Perl syntax: `(?P`'],
    ['e.{1001}', 'invalid repeat count: `{1001}`'],
    ['x{2,1}', 'invalid repeat count: `{2,1}`'],
    ['(x{100}){100}', 'invalid repeat count: `{100}`'],
    ['[z-a]', 'invalid character class range: `z-a`'],
    ['\\p{Nope}', 'invalid character class range: `\\p{Nope}`'],
    ['('.repeat(1001) + ')'.repeat(1001), `expression nests too deeply: \`${'('.repeat(1001)}`],
  ])('%s is rejected with Go’s message', async (pattern, message) => {
    await expect(compileGoRegexp(pattern)).rejects.toThrow(`error parsing regexp: ${message}`);
  });
});
