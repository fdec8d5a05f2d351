import {expect, test, vi} from 'vitest';
import {
  KCRI_FLAG_SYNTAX,
  parseFlagValues,
  pickGivenValues,
  type FlagDefinition,
} from '../../../src/cli/parsing/parse-values.js';
import type {FlagToken} from '../../../src/cli/parsing/tokenize.js';

const option = (rest: Partial<FlagDefinition> = {}): FlagDefinition => ({
  type: 'option',
  parse: async (text: string) => await Promise.resolve(`<${text}>`),
  ...rest,
});
const given = (name: string, value: string | boolean): FlagToken => ({name, spelling: name, value});
const parse = async (rules: Readonly<Record<string, FlagDefinition>>, ...tokens: readonly FlagToken[]) =>
  await parseFlagValues(rules, tokens, {flagSyntax: KCRI_FLAG_SYNTAX});

test('flags that are not given have their default: a constant, what a function resolves to, or false', async () => {
  const rules = {
    output: option({default: 'table'}),
    tail: option({default: async () => await Promise.resolve(-1)}),
    none: option({default: async () => await Promise.resolve<unknown>(undefined)}),
    name: option(),
    all: {...option(), type: 'boolean' as const},
  };
  expect(await parse(rules)).toStrictEqual({output: 'table', tail: -1, all: false});
});

test('the last given value counts, and all of a flag that can be repeated', async () => {
  const rules = {name: option({default: 'x'}), label: option({multiple: true, delimiter: ','})};
  const tokens = [given('name', 'a'), given('label', 'p, q'), given('name', 'b'), given('label', 'r')];
  expect(await parse(rules, ...tokens)).toStrictEqual({name: '<b>', label: ['<p>', '<q>', '<r>']});
});

test('a required flag that is missing is named before a value that is invalid', async () => {
  const invalid = option({parse: async () => await Promise.reject(new Error('bad'))});
  const rules = {size: invalid, count: invalid, name: option({required: true})};
  const tokens = [given('size', '1'), given('count', '2')];
  await expect(parse(rules, ...tokens)).rejects.toThrow('required flag "--name" not set');
  await expect(parse(rules, ...tokens, given('name', 'a'))).rejects.toThrow(
    'invalid argument "1" for "--size" flag: bad',
  );
});

test('no promise is made for a flag that is not given', async () => {
  const rules = Object.fromEntries(Array.from({length: 50}, (_, index) => [`flag${index}`, option()]));
  using all = vi.spyOn(Promise, 'all');
  await parse(rules);
  expect(all.mock.calls).toEqual([[[]]]);
});

test('only values that are given override others', () => {
  const values = {config: '/etc/crictl.yaml', debug: false};
  expect(pickGivenValues(values, {flags: [given('config', 'x')]})).toEqual({config: '/etc/crictl.yaml'});
  expect(pickGivenValues(values, {flags: []})).toEqual({});
});
