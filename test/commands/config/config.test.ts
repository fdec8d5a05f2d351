import {chmodSync, chownSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {lstatSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {runKcri} from '../../cli/run-kcri.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {UNCREATABLE_CONFIG_FILE} from '../../cli/uncreatable-path.js';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await temporaryDirectory();
  file = join(folder, 'crictl.yaml');
});

const config = async (...args: string[]) => await runKcri(['-c', file, 'config', ...args]);
const inFile = (): string => readFileSync(file, 'utf8');

const WRITTEN_BY_HAND = `# for the lab
runtime-endpoint: "unix:///a b"   # why

timeout: 5 # seconds
'debug': 'false'
`;

describe('config --set', () => {
  test('changes the value and preserves all other bytes', async () => {
    writeFileSync(file, WRITTEN_BY_HAND);
    const result = await config(
      '--set',
      'runtime-endpoint=unix:///run/c=d.sock,timeout=7',
      '--set',
      'debug=1',
    );
    expect(result).toEqual({stdout: '', stderr: '', exitCode: 0});
    expect(inFile()).toBe(
      WRITTEN_BY_HAND.replace('/a b', '/run/c=d.sock').replace('5 #', '7 #').replace("'false'", "'true'"),
    );
  });

  test.each([
    ['', 'timeout: 3\n'],
    ['# only this', '# only this\ntimeout: 3\n'],
    ['debug: true', 'debug: true\ntimeout: 3\n'],
    ['debug: true\n\n# end\n', 'debug: true\n\n# end\ntimeout: 3\n'],
    ['  debug: true\n', '  debug: true\n  timeout: 3\n'],
    ['timeout:\ndebug: true\n', 'timeout: 3\ndebug: true\n'],
    ['timeout: 1\ntimeout: 2\n', 'timeout: 3\ntimeout: 3\n'],
    ['timeout: wrong\nfoo: bar\n', 'timeout: 3\nfoo: bar\n'],
    ['{"debug": true}', '{"debug": true, "timeout": 3}'],
    ['{\n  "debug": true\n}\n', '{\n  "debug": true, "timeout": 3\n}\n'],
    ['{}', '{"timeout": 3}'],
    ['{"timeout": "9"}', '{"timeout": 3}'],
  ])('sets %j in place of %j', async (before, after) => {
    writeFileSync(file, before);
    expect(await config('--set', 'timeout=3')).toMatchObject({exitCode: 0});
    expect(inFile()).toBe(after);
  });

  test.each([
    ['runtime-endpoint: >-\n  unix:///x\ntimeout: 2\n', 'runtime-endpoint: unix:///y\ntimeout: 2\n'],
    [
      'runtime-endpoint: |\n  unix:///x\n\n# end\ntimeout: 2',
      'runtime-endpoint: unix:///y\n\n# end\ntimeout: 2',
    ],
    ['runtime-endpoint:\n  unix:///x\ntimeout: 2\n', 'runtime-endpoint:\n  unix:///y\ntimeout: 2\n'],
  ])('replaces %j, whose value is a block, by %j', async (before, after) => {
    writeFileSync(file, before);
    expect(await config('--set', 'runtime-endpoint=unix:///y')).toMatchObject({exitCode: 0});
    expect(inFile()).toBe(after);
  });

  test('does not modify a file in which an option cannot be changed independently', async () => {
    const before = 'runtime-endpoint: &both unix:///x\nimage-endpoint: *both\n';
    writeFileSync(file, before);
    const {stderr, exitCode} = await config('--set', 'runtime-endpoint=unix:///y');
    expect(stderr).toBe(
      'kcri: cannot change "runtime-endpoint" in the config file without changing other options\n' +
        'hint: edit the file: runtime-endpoint: unix:///y\n',
    );
    expect({exitCode, text: inFile()}).toEqual({exitCode: 1, text: before});
  });

  test('creates a missing file and its directory, readable by all', async () => {
    file = join(folder, 'new', 'crictl.yaml');
    expect(await config('--set', 'runtime-endpoint=')).toEqual({stdout: '', stderr: '', exitCode: 0});
    expect(inFile()).toBe('runtime-endpoint: ""\n');
    expect(statSync(file).mode & 0o777).toBe(0o644);
  });

  test.skipIf(process.getuid?.() !== 0)('preserves a link, the mode and the owner (as root)', async () => {
    const real = join(folder, 'real.yaml');
    writeFileSync(real, 'timeout: 1\n');
    chmodSync(real, 0o640);
    chownSync(real, 1234, 2345);
    symlinkSync('real.yaml', file);
    expect(await config('--set', 'timeout=2')).toMatchObject({exitCode: 0});
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, 'utf8')).toBe('timeout: 2\n');
    const {mode, uid, gid} = statSync(real);
    expect({mode: mode & 0o777, uid, gid}).toEqual({mode: 0o640, uid: 1234, gid: 2345});
  });

  test.each([
    [['--set', 'timeuot=1'], 'no configuration option named timeuot\nhint: did you mean "timeout"?'],
    [['--set', 'timeout'], 'incorrectly specified option: timeout\nhint: use KEY=VALUE'],
    [['--set', 'timeout=2x'], 'invalid value "2x" of option "timeout": must be a number of seconds'],
    [['--set', 'timeout=1500ms'], 'invalid value "1500ms" of option "timeout": must be a number of seconds'],
    [['--set', 'debug=maybe'], 'invalid value "maybe" of option "debug": must be true or false'],
    [['--set', 'debug=true,nope=1'], 'no configuration option named nope'],
    [['nope', '1'], 'no configuration option named nope'],
    [['--get', 'nope'], 'no configuration option named nope'],
    [['--get', 'debug', '--list'], '--get, --set and --list are mutually exclusive'],
  ])('%j is rejected without changes', async (args, message) => {
    writeFileSync(file, 'debug: false\n');
    const {stdout, stderr, exitCode} = await config(...args);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr.startsWith(`kcri: ${message}`)).toBe(true);
    expect(inFile()).toBe('debug: false\n');
  });
});

describe('config', () => {
  test('KEY VALUE sets, as in old versions without flags, and KEY prints', async () => {
    expect(await config('timeout', '9')).toEqual({stdout: '', stderr: '', exitCode: 0});
    expect(await config('timeout')).toEqual({stdout: '9\n', stderr: '', exitCode: 0});
  });

  test('--get prints the value in effect and does not create a file', async () => {
    expect(await config('--get', 'timeout')).toEqual({stdout: '120\n', stderr: '', exitCode: 0});
    expect(() => statSync(file)).toThrow('ENOENT');
    writeFileSync(file, 'runtime-endpoint: unix:///file');
    const args = ['-c', file, 'config', '--get', 'runtime-endpoint'];
    expect((await runKcri(args)).stdout).toBe('unix:///file\n');
    expect((await runKcri(args, {endpoint: 'unix:///env'})).stdout).toBe('unix:///env\n');
    expect((await runKcri(['-r', 'unix:///flag', ...args])).stdout).toBe('unix:///flag\n');
  });

  test('--list prints the source of each value and does not clear the screen', async () => {
    writeFileSync(file, 'max-retries: 2\n');
    const {stdout} = await runKcri(['-c', file, '-t', '3s', 'config', '--list'], {endpoint: 'unix:///env'});
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['KEY', 'VALUE', 'SOURCE'],
      ['runtime-endpoint', 'unix:///env', '$CONTAINER_RUNTIME_ENDPOINT'],
      ['image-endpoint', 'default'],
      ['timeout', '3', '--timeout'],
      ['debug', 'false', 'default'],
      ['pull-image-on-create', 'false', 'default'],
      ['disable-pull-on-run', 'false', 'default'],
      ['max-retries', '2', file],
      [''],
    ]);
  });

  test('without arguments prints its help', async () => {
    const {stdout, exitCode} = await config();
    expect(stdout).toContain('--set');
    expect(exitCode).toBe(0);
  });
});

describe('config as crictl', () => {
  const crictl = async (...args: string[]) =>
    await runKcri(['-c', file, 'config', ...args], {env: {KCRI_COMPAT: 'crictl'}});

  test('writes all options, preserves comments and quotes, and drops blank lines', async () => {
    writeFileSync(
      file,
      '# top\nruntime-endpoint: "unix:///a"   # why\n\ntimeout: 5\n\ndebug: true\ndebug: false\n',
    );
    expect(await crictl('--set', 'debug=true,timeout=7')).toEqual({stdout: '', stderr: '', exitCode: 0});
    expect(inFile()).toBe(
      '# top\nruntime-endpoint: "unix:///a" # why\ntimeout: 7\ndebug: true\ndebug: true\nimage-endpoint: ""\n' +
        'pull-image-on-create: false\ndisable-pull-on-run: false\nmax-retries: 0\n',
    );
  });

  test('creates the file before it reads it', async () => {
    expect((await crictl('--get', 'timeout')).stdout).toBe('0\n');
    expect(inFile()).toBe(
      'runtime-endpoint: ""\nimage-endpoint: ""\ntimeout: 0\ndebug: false\npull-image-on-create: false\n' +
        'disable-pull-on-run: false\nmax-retries: 0\n',
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('preserves the quotes of a file it has created', async () => {
    await crictl('--set', 'runtime-endpoint=unix:///a,timeout=2');
    expect(inFile()).toMatch(/^runtime-endpoint: "unix:\/\/\/a"\nimage-endpoint: ""\ntimeout: 2\n/);
  });
});

test('a command of a test cannot create the default config file', async () => {
  const {exitCode} = await runKcri(['config', '--set', 'timeout=7']);
  expect(exitCode).toBe(1);
  expect(existsSync(dirname(UNCREATABLE_CONFIG_FILE))).toBe(false);
});
