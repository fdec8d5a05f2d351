import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {commandPaths, loadCommand} from '../../src/cli/catalog/command-files.js';
import {runKcri} from '../cli/run-kcri.js';
import {FakeRuntime, aContainer, aSandbox, anImage} from '../fakes/fake-runtime.js';

/** Flag definitions of a command class. */
interface CommandWithFlags {
  readonly flags?: Readonly<
    Record<string, {readonly type: string; readonly description?: string; readonly rejectsEmpty?: boolean}>
  >;
}

async function startRuntime() {
  const web = aSandbox({name: 'web'});
  return await FakeRuntime.start({
    sandboxes: [web],
    containers: [aContainer({sandbox: web, name: 'main'})],
    images: [anImage({name: 'localhost:5000/app:1'})],
  });
}

describe('an empty filter', () => {
  test.each([
    [['ps', '--name', ''], 'name'],
    [['ps', '-a', '--pod', ''], 'pod'],
    [['ps', '--image='], 'image'],
    [['ps', '--id='], 'id'],
    [['ps', '--state='], 'state'],
    [['ps', '--label', ''], 'label'],
    [['ps', '--label=a=b,'], 'label'],
    [['ps', '--last', ''], 'last'],
    [['pods', '--namespace', ''], 'namespace'],
    [['images', '--filter', ''], 'filter'],
    [['inspect', '--namespace', ''], 'namespace'],
    [['inspecti', '--name', ''], 'name'],
    [['stats', '--pod', ''], 'pod'],
    [['statsp', '--id', ''], 'id'],
    [['events', '--type', ''], 'type'],
    [['events', '--since', ''], 'since'],
    [['get', 'pods', '-l', ''], 'selector'],
    [['describe', '-n', ''], 'namespace'],
    [['top', '--once', '-n', ''], 'namespace'],
    [['logs', '--since', '', 'main'], 'since'],
    [['logs', '--since-time', '', 'main'], 'since-time'],
    [['logs', '--until', '', 'main'], 'until'],
    [['logs', '--tail', '', 'main'], 'tail'],
    [['logs', '--stream', '', 'main'], 'stream'],
    [['rm', '-f', '--name', ''], 'name'],
    [['rm', '-f', '--image=', 'main'], 'image'],
    [['rm', '-a', '--pod', ''], 'pod'],
    [['stop', '--name='], 'name'],
    [['stop', '--all', '--pod', ''], 'pod'],
    [['exec', '--name', '', 'reboot'], 'name'],
    [['exec', '--state', '', 'reboot'], 'state'],
    [['logs', '--name', ''], 'name'],
  ])('is rejected before any call: %j', async (args, flag) => {
    await using runtime = await startRuntime();
    const {stdout, stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint});
    expect(stderr).toContain(
      `kcri: --${flag} must not be empty\nhint: omit it, or check the variable that sets its value\n`,
    );
    expect({stdout, exitCode, calls: runtime.calls.length}).toEqual({stdout: '', exitCode: 1, calls: 0});
  });

  test.each([
    [['images', ''], 'the image name'],
    [['images', '--filter', 'reference='], '"reference" in --filter'],
    [['inspecti', '--filter', 'since='], '"since" in --filter'],
  ])('is rejected as an argument and in a condition: %j', async (args, subject) => {
    await using runtime = await startRuntime();
    const {stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint});
    expect(stderr).toContain(`kcri: ${subject} must not be empty\nhint: `);
    expect({exitCode, calls: runtime.calls.length}).toEqual({exitCode: 1, calls: 0});
  });

  test('is rejected by every flag that selects objects', async () => {
    const accepting: string[] = [];
    for (const path of commandPaths()) {
      const {flags = {}} = (await loadCommand(path)).default as unknown as CommandWithFlags;
      for (const [name, {type, description = '', rejectsEmpty}] of Object.entries(flags))
        if (type === 'option' && /^(Select|Print) only\b/.test(description) && rejectsEmpty !== true)
          accepting.push(`${path} --${name}`);
    }
    expect(accepting).toEqual([]);
  });

  test.each([
    ['ps', ['--name', '', '--pod', '', '--image', '']],
    ['pods', ['--name', '']],
    ['images', ['']],
  ])('of %s matches everything when called as crictl: %j', async (command, filters) => {
    await using runtime = await startRuntime();
    const options = {endpoint: runtime.endpoint, env: {KCRI_COMPAT: 'crictl'}};
    const all = await runKcri([command, '-q'], options);
    const {stdout, exitCode} = await runKcri([command, '-q', ...filters], options);
    expect({stdout, exitCode}).toEqual({stdout: all.stdout, exitCode: 0});
    expect(all.stdout).toMatch(/^\S+\n$/);
  });

  test.each(['rm', 'stop', 'logs'])('of %s is an unknown flag when called as crictl', async (command) => {
    await using runtime = await startRuntime();
    const env = {KCRI_COMPAT: 'crictl'};
    const {stderr, exitCode} = await runKcri([command, '--name', ''], {endpoint: runtime.endpoint, env});
    expect(stderr).toContain('flag provided but not defined: -name');
    expect(exitCode).toBe(1);
    expect(runtime.calls.filter(({method}) => /^(Stop|Remove|Container)/.test(method))).toEqual([]);
  });
});

describe('pods', () => {
  test.each(['ls', 'list'])('%s lists all pods', async (word) => {
    await using runtime = await startRuntime();
    const {endpoint} = runtime;
    expect(await runKcri(['pods', word, '-q'], {endpoint})).toEqual(
      await runKcri(['pods', '-q'], {endpoint}),
    );
  });

  test.each([['web'], ['ls', 'web']])('accepts no other argument: %s %s', async (...words) => {
    const {stderr, exitCode} = await runKcri(['pods', ...words.filter(Boolean)], {endpoint: '/nowhere'});
    expect(stderr).toContain('kcri: unexpected argument "web"\n');
    expect(exitCode).toBe(1);
  });
});

describe('a file given by the user that cannot be written', () => {
  test.each([
    ['the config file', (path: string) => ['-c', path, 'config', '--set', 'timeout=3']],
    ['a profile', (path: string) => ['--profile-cpu', path, 'version']],
  ])('has no hint about --root-dir: %s', async (_, words) => {
    await using runtime = await startRuntime();
    const file = join(await temporaryDirectory(), 'file');
    await writeFile(file, '');
    const {stderr, exitCode} = await runKcri(words(join(file, 'x')), {endpoint: runtime.endpoint});
    expect(stderr).toContain('not a directory');
    expect(stderr).toContain('\nhint: ');
    expect(stderr).not.toContain('--root-dir');
    expect(exitCode).toBe(1);
  });
});

describe('an empty argument', () => {
  test.each([
    ['rm', '-f', ''],
    ['stop', ''],
    ['rmp', '-f', ''],
    ['stopp', ''],
    ['rmi', ''],
    ['rmi', '-f', ''],
    ['exec', '', 'reboot'],
  ])('matches nothing: %s %s', async (...args) => {
    await using runtime = await startRuntime();
    expect((await runKcri(args, {endpoint: runtime.endpoint})).exitCode).not.toBe(0);
    expect(runtime.calls.filter(({method}) => /^(Stop|Remove|Exec)/.test(method))).toEqual([]);
  });
});

describe('names with --all', () => {
  test.each([
    [['rm', '-a', 'main']],
    [['rm', '-af', '--pod', 'web', 'main']],
    [['rmp', '-a', 'main']],
    [['rmi', '-a', 'main']],
  ])('are rejected before any call: %j', async (args) => {
    await using runtime = await startRuntime();
    const {stdout, stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint});
    expect(stderr).toContain('kcri: cannot use "main" together with --all\nhint: ');
    expect({stdout, exitCode, calls: runtime.calls.length}).toEqual({stdout: '', exitCode: 1, calls: 0});
  });

  test.each([['rm'], ['rmp']])('are ignored by %s as crictl', async (command) => {
    await using runtime = await startRuntime();
    const env = {KCRI_COMPAT: 'crictl'};
    const {exitCode} = await runKcri([command, '-a', '-f', 'x'], {endpoint: runtime.endpoint, env});
    expect(exitCode).toBe(0);
  });
});
