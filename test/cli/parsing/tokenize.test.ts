import {describe, expect, test} from 'vitest';
import {tokenize, type FlagShapes} from '../../../src/cli/parsing/tokenize.js';
import {FlagError} from '../../../src/cli/parsing/usage-errors.js';

const OWN: FlagShapes = {
  all: {type: 'boolean', char: 'a'},
  quiet: {type: 'boolean', char: 'q'},
  output: {type: 'option', char: 'o'},
  last: {type: 'option', char: 'n'},
  resolve: {type: 'boolean', char: 'r'},
  'pull-timeout': {type: 'option', aliases: ['pt']},
};
const SHARED: FlagShapes = {
  'runtime-endpoint': {type: 'option', char: 'r'},
  debug: {type: 'boolean', char: 'D'},
};

const flagsOf = (...argv: string[]) =>
  tokenize(argv, OWN, SHARED).flags.map(({name, value}) => (value === true ? name : `${name}=${value}`));

describe('tokenize parses flags like crictl', () => {
  test.each([
    [['-a'], ['all']],
    [['--all'], ['all']],
    [['-all'], ['all']],
    [['--all=false'], ['all=false']],
    [['-a=0'], ['all=false']],
    [['-aq'], ['all', 'quiet']],
    [
      ['-aqo', 'json'],
      ['all', 'quiet', 'output=json'],
    ],
    [['-ojson'], ['output=json']],
    [['-o=json'], ['output=json']],
    [['--output=json'], ['output=json']],
    [['-output', 'json'], ['output=json']],
    [['--output', '-q'], ['output=-q']],
    [['-n2'], ['last=2']],
    [['-n', '-1'], ['last=-1']],
    [['-an2'], ['all', 'last=2']],
    [['--pt', '5s'], ['pull-timeout=5s']],
    [['-pt', '5s'], ['pull-timeout=5s']],
    [['--output='], ['output=']],
    [['--output=a=b\nc'], ['output=a=b\nc']],
    [['-D'], ['debug']],
    [['-r'], ['resolve']],
    [['--runtime-endpoint', '/x'], ['runtime-endpoint=/x']],
    [
      ['-o', 'a', '-o', 'b'],
      ['output=a', 'output=b'],
    ],
  ])('%j is parsed as %j', (argv, flags) => {
    expect(flagsOf(...argv)).toEqual(flags);
  });

  test('flags may follow positionals', () => {
    expect(tokenize(['x', '-a', 'y', '-', '-q'], OWN, SHARED)).toEqual({
      flags: [
        {name: 'all', spelling: 'a', value: true},
        {name: 'quiet', spelling: 'q', value: true},
      ],
      positionals: ['x', 'y', '-'],
      help: false,
    });
  });

  test('everything after -- is positional', () => {
    expect(tokenize(['-a', '--', '-q', '--', 'x'], OWN, SHARED).positionals).toEqual(['-q', '--', 'x']);
  });

  test('flags end after the arguments that flagsEndAfter accepts', () => {
    const {flags, positionals} = tokenize(['-a', 'id', '-q', 'ls', '-q', '--'], OWN, SHARED, {
      flagsEndAfter: (before) => before.length === 2,
    });
    expect(flags).toHaveLength(2);
    expect(positionals).toEqual(['id', 'ls', '-q', '--']);
  });

  test.each([[['-h']], [['--help']], [['x', '-help']], [['-ah']]])('%j requests help', (argv) => {
    expect(tokenize(argv, OWN, SHARED).help).toBe(true);
  });

  test.each([
    [['--bogus'], 'unknown flag: --bogus'],
    [['-x'], "unknown shorthand flag: 'x' in -x"],
    [['-ax'], "unknown shorthand flag: 'x' in -ax"],
    [['-o'], "flag needs an argument: 'o' in -o"],
    [['--all=maybe'], 'invalid argument "maybe" for "-a, --all" flag: must be true or false'],
  ])('%j is rejected with "%s"', (argv, message) => {
    expect(() => tokenize(argv, OWN, SHARED)).toThrow(new FlagError(message));
  });

  test('a command line without flags reads no definitions of flags', () => {
    const unreadable: FlagShapes = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('the definitions are read');
        },
      },
    );
    expect(tokenize(['a', '--', '-b'], unreadable, unreadable).positionals).toEqual(['a', '-b']);
  });
});
