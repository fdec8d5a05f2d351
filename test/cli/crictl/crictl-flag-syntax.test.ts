import {expect, test} from 'vitest';
import {CRICTL_FLAG_SYNTAX} from '../../../src/cli/crictl/crictl-flag-syntax.js';
import {int64Flag} from '../../../src/cli/flags/flag-types.js';
import {parseFlagValues, type FlagDefinition} from '../../../src/cli/parsing/parse-values.js';

const rules = {memory: int64Flag() as unknown as FlagDefinition};
const parse = async (value: string): Promise<unknown> =>
  await parseFlagValues(rules, [{name: 'memory', spelling: 'memory', value}], {
    flagSyntax: CRICTL_FLAG_SYNTAX,
  });

test.each([
  ['9223372036854775808', 'value out of range'],
  ['1__0', 'parse error'],
])('rejects the integer %s with the text of crictl', async (value, reason) => {
  await expect(parse(value)).rejects.toThrow(`invalid value "${value}" for flag -memory: ${reason}`);
});

test('keeps all 64 bits', async () => {
  expect(await parse('0x7fffffffffffffff')).toEqual({memory: 2n ** 63n - 1n});
});

test('rejects a duration beyond 64 bits', () => {
  expect(() => CRICTL_FLAG_SYNTAX.durationMs?.('9999999h')).toThrow('not a duration');
});
