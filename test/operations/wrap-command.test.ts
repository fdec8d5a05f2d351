import {execFileSync} from 'node:child_process';
import {userInfo} from 'node:os';
import {describe, expect, test} from 'vitest';
import {wrapCommand} from '../../src/operations/wrap-command.js';

const NOTHING = {env: [], workdir: undefined, user: undefined};

function run(command: readonly string[]): string {
  const [program = '', ...args] = command;
  return execFileSync(program, args, {encoding: 'utf8', env: {PATH: process.env['PATH']}});
}

describe('wrapCommand', () => {
  test('leaves a command alone that needs nothing', () => {
    expect(wrapCommand(['ls', '-la'], NOTHING)).toEqual(['ls', '-la']);
  });

  test('hands every word over as it is', () => {
    const words = ['a b', '$(id)', '`id`', '; id', "'", '"', '\\', '', '-x', '--', '*'];
    const command = ['printf', '%s|', ...words];
    const wrapped = wrapCommand(command, {env: ['X=$(id); y'], workdir: '/', user: undefined});
    expect(run(wrapped)).toBe(words.map((word) => `${word}|`).join(''));
  });

  test('sets variables and the directory', () => {
    const wrapped = wrapCommand(['sh', '-c', 'echo "$A"; pwd'], {
      ...NOTHING,
      env: ['A=b c'],
      workdir: '/usr',
    });
    expect(run(wrapped)).toBe('b c\n/usr\n');
  });

  test('a directory that is not there is an error, and nothing runs', () => {
    const wrapped = wrapCommand(['echo', 'ran'], {...NOTHING, workdir: '/no/such/directory'});
    expect(() => run(wrapped)).toThrow(/no\/such\/directory/);
  });

  test('a program with = in its name is not taken for a variable', () => {
    expect(wrapCommand(['a=b', 'c'], {...NOTHING, env: ['X=1']}).slice(-2)).toEqual(['a=b', 'c']);
    expect(wrapCommand(['a=b'], {...NOTHING, env: ['X=1']})).toContain('sh');
  });

  test.runIf(userInfo().uid === 0)('runs as another user, by name, number and group', () => {
    const as = (user: string): string => run(wrapCommand(['sh', '-c', 'id -u; id -g'], {...NOTHING, user}));
    expect(as('nobody')).toMatch(/^65534\n65534\n$/);
    expect(as('1234:4321')).toBe('1234\n4321\n');
    expect(as('54321')).toBe('54321\n0\n');
  });

  test.runIf(userInfo().uid === 0)('says what is missing for a user that is not there', () => {
    const wrapped = wrapCommand(['id'], {...NOTHING, user: 'no-such-user'});
    expect(() => run(wrapped)).toThrow(/can't run a command as "no-such-user" in this container/);
  });
});
