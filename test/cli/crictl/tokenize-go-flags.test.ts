import {describe, expect, test} from 'vitest';
import {tokenizeGoFlags} from '../../../src/cli/crictl/tokenize-go-flags.js';
import type {FlagShapes} from '../../../src/cli/parsing/tokenize.js';
import {FlagError} from '../../../src/cli/parsing/usage-errors.js';

const FLAGS: FlagShapes = {
  all: {type: 'boolean', char: 'a'},
  quiet: {type: 'boolean', char: 'q'},
  output: {type: 'option', char: 'o'},
  'pull-timeout': {type: 'option', aliases: ['pt']},
};

const parse = async (argv: readonly string[], combinesShorts = true) =>
  await tokenizeGoFlags(argv, FLAGS, {
    combinesShorts,
    check: async ({value}) => {
      if (value === 'bad') throw new FlagError('bad value');
      await Promise.resolve();
    },
  });
const flagsOf = async (argv: readonly string[]) =>
  (await parse(argv)).flags.map(({name, value}) => (value === true ? name : `${name}=${value}`));

describe("flags in the style of Go's flag package and urfave/cli", () => {
  test.each([
    [['-a'], ['all']],
    [['--a'], ['all']],
    [['-all'], ['all']],
    [['-a=false'], ['all=false']],
    [['-aq'], ['all', 'quiet']],
    [
      ['-aqo', 'json'],
      ['all', 'quiet', 'output=json'],
    ],
    [['-o', '-a'], ['output=-a']],
    [['-o='], ['output=']],
    [['-o=a=b'], ['output=a=b']],
    [['-pt', '5s'], ['pull-timeout=5s']],
    [
      ['-o', 'x', '-o', 'y'],
      ['output=x', 'output=y'],
    ],
    [
      ['-o', 'json', '-aq'],
      ['output=json', 'all', 'quiet'],
    ],
  ])('%j is parsed as %j', async (argv, flags) => {
    expect(await flagsOf(argv)).toEqual(flags);
  });

  test.each([
    [
      ['x', '-a'],
      ['x', '-a'],
    ],
    [
      ['-a', 'x', '--', '-q'],
      ['x', '--', '-q'],
    ],
    [['-a', '--', '-q'], ['-q']],
    [
      ['-', '-a'],
      ['-', '-a'],
    ],
    [
      ['', '-a'],
      ['', '-a'],
    ],
  ])('flags end before the first argument of %j', async (argv, positionals) => {
    expect((await parse(argv)).positionals).toEqual(positionals);
  });

  test.each([
    [['-x'], 'flag provided but not defined: -x'],
    [['-ax'], 'flag provided but not defined: -ax'],
    [['-ao=json'], 'flag provided but not defined: -ao'],
    [['--aq'], 'flag provided but not defined: -aq'],
    [['-o'], 'flag needs an argument: -o'],
    [['-a=x'], 'invalid boolean value "x" for -a: parse error'],
    [['---a'], 'bad flag syntax: ---a'],
    [['-=a'], 'bad flag syntax: -=a'],
    [['-o', 'bad', '-o', 'json'], 'bad value'],
    [['-o', 'bad', '--bogus'], 'bad value'],
    [['--bogus', '-o', 'bad'], 'flag provided but not defined: -bogus'],
    [['-a', '--all'], 'Cannot use two forms of the same flag: a all'],
    [['--pt', '1s', '--pull-timeout', '2s'], 'Cannot use two forms of the same flag: pt pull-timeout'],
  ])('%j is rejected with "%s"', async (argv, message) => {
    await expect(parse(argv)).rejects.toThrow(new FlagError(message));
  });

  test('short flags can be combined only if the command allows it', async () => {
    await expect(parse(['-aq'], false)).rejects.toThrow(new FlagError('flag provided but not defined: -aq'));
  });

  test.each([['-h'], ['--help'], ['-ah']])('%s requests help', async (flag) => {
    expect((await parse([flag])).help).toBe(true);
  });
});
