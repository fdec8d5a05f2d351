import {execFileSync} from 'node:child_process';
import {userInfo} from 'node:os';
import {describe, expect, test} from 'vitest';
import {wrapCommand} from '../../../src/operations/exec/wrap-command.js';

const EMPTY_ENVIRONMENT = {env: [], workdir: undefined, user: undefined};

function run(command: readonly string[]): string {
  const [program = '', ...args] = command;
  return execFileSync(program, args, {encoding: 'utf8', env: {PATH: process.env['PATH']}});
}

describe('wrapCommand', () => {
  test('returns a command without environment unchanged', () => {
    expect(wrapCommand(['ls', '-la'], EMPTY_ENVIRONMENT)).toEqual(['ls', '-la']);
  });

  test('passes every argument unchanged', () => {
    const words = ['a b', '$(id)', '`id`', '; id', "'", '"', '\\', '', '-x', '--', '*'];
    const command = ['printf', '%s|', ...words];
    const wrapped = wrapCommand(command, {env: ['X=$(id); y'], workdir: '/', user: undefined});
    expect(run(wrapped)).toBe(words.map((word) => `${word}|`).join(''));
  });

  test('sets variables and the directory', () => {
    const wrapped = wrapCommand(['sh', '-c', 'echo "$A"; pwd'], {
      ...EMPTY_ENVIRONMENT,
      env: ['A=b c'],
      workdir: '/usr',
    });
    expect(run(wrapped)).toBe('b c\n/usr\n');
  });

  test('fails for a missing directory without running the command', () => {
    const wrapped = wrapCommand(['echo', 'ran'], {...EMPTY_ENVIRONMENT, workdir: '/no/such/directory'});
    expect(() => run(wrapped)).toThrow(/no\/such\/directory/);
  });

  test('does not take a program with = in its name for a variable', () => {
    expect(wrapCommand(['a=b', 'c'], {...EMPTY_ENVIRONMENT, env: ['X=1']}).slice(-2)).toEqual(['a=b', 'c']);
    expect(wrapCommand(['a=b'], {...EMPTY_ENVIRONMENT, env: ['X=1']})).toContain('sh');
  });

  test.runIf(userInfo().uid === 0)('runs as another user, by name, number and group', () => {
    const as = (user: string): string =>
      run(wrapCommand(['sh', '-c', 'id -u; id -g'], {...EMPTY_ENVIRONMENT, user}));
    expect(as('nobody')).toMatch(/^65534\n65534\n$/);
    expect(as('1234:4321')).toBe('1234\n4321\n');
    expect(as('54321')).toBe('54321\n0\n');
  });

  test.runIf(userInfo().uid === 0)('fails for an unknown user with the requirements', () => {
    const wrapped = wrapCommand(['id'], {...EMPTY_ENVIRONMENT, user: 'no-such-user'});
    expect(() => run(wrapped)).toThrow(/cannot run a command as "no-such-user" in this container/);
  });
});
