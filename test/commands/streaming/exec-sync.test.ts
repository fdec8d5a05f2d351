import {describe, expect, test} from 'vitest';
import {runKcri} from '../../cli/run-kcri.js';
import {FAST_CLOCK} from '../interrupt-watch.js';
import {FakeRuntime, aContainer, aSandbox, BUILT_AT_NANOS} from '../../fakes/fake-runtime.js';
import {PROFILES, type ProfileName} from '../../fakes/runtime/profiles/profiles.js';

async function startRuntime() {
  const [web, api] = [aSandbox({name: 'web'}), aSandbox({name: 'api'})];
  return await FakeRuntime.start({
    sandboxes: [web, api],
    containers: [
      aContainer({sandbox: web, name: 'main', createdAt: BUILT_AT_NANOS + 5n}),
      aContainer({sandbox: api, name: 'server'}),
      aContainer({sandbox: api, name: 'done', state: 'CONTAINER_EXITED', exitCode: 3}),
    ],
    exec: ([command, ...args]) =>
      command === 'say' ? {stdout: args.join(' '), stderr: 'note', exitCode: args.length} : undefined,
  });
}

describe('exec --sync', () => {
  test('separates the outputs unchanged, and returns the exit code', async () => {
    await using runtime = await startRuntime();
    const result = await runKcri(['exec', '-s', 'main', 'say', '-x', 'b', '-x', '--'], {
      endpoint: runtime.endpoint,
    });
    expect(result).toEqual({
      stdout: '-x b -x --',
      stderr: 'note',
      exitCode: 4,
    });
    expect(runtime.callsTo('ExecSync')[0]!.request).toEqual({
      container_id: runtime.containers[0]!.id,
      cmd: ['say', '-x', 'b', '-x', '--'],
    });
  });

  // Proves: exec --sync
  test.each([
    [['-s', '--', 'main', 'true']],
    [['-s', 'main', '--', 'true']],
    [['--sync', '--timeout', '9', 'web/main', 'true']],
    [['--name', '^main$', '-s', 'true']],
  ])('%j runs true', async (words) => {
    await using runtime = await startRuntime();
    const args = ['exec', ...words];
    expect((await runKcri(args, {endpoint: runtime.endpoint})).exitCode).toBe(0);
    expect(runtime.callsTo('ExecSync')[0]!.request).toMatchObject({cmd: ['true']});
  });

  test('--timeout limits the command, not the call', async () => {
    await using runtime = await startRuntime();
    await runKcri(['exec', '-s', '--timeout', '9', 'main', 'true'], {endpoint: runtime.endpoint});
    expect(runtime.callsTo('ExecSync')[0]!.request).toMatchObject({timeout: '9'});
  });

  test('runs in all containers that a filter selects', async () => {
    await using runtime = await startRuntime();
    const args = ['exec', '-sq', '--name', '.', 'echo', 'hi'];
    expect((await runKcri(args, {endpoint: runtime.endpoint})).stdout).toBe('hi\nhi\n');
  });

  test('-e ignores errors', async () => {
    await using runtime = await startRuntime();
    expect((await runKcri(['exec', '-se', 'main', 'false'], {endpoint: runtime.endpoint})).exitCode).toBe(0);
  });

  test.each([
    [['exec'], 'specify a container and a command'],
    [['exec', 'main'], 'specify a container and a command'],
    [['exec', '-s', '--name', 'zzz', 'true'], 'no running container matches --name zzz'],
    [['exec', '-s', 'done', 'true'], 'running "true" in container "done": failed to exec in container'],
    [
      ['exec', '--timeout', '1s', 'main', 'true'],
      'invalid argument "1s" for "--timeout" flag: not an integer',
    ],
  ])('%j exits with 1', async (args, message) => {
    await using runtime = await startRuntime();
    const {stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint});
    expect(stderr).toContain(`kcri: ${message}`);
    expect(exitCode).toBe(1);
  });
});

describe.each(Object.keys(PROFILES) as readonly ProfileName[])('exec --sync on %s', (profile) => {
  async function execSync(...args: readonly string[]) {
    await using runtime = await FakeRuntime.start({
      profile,
      clock: FAST_CLOCK,
      containers: [aContainer({name: 'main'})],
      exec: ([command = '']) =>
        command === 'nosuch' ? {startError: 'exec: "nosuch": executable file not found in $PATH'} : undefined,
    });
    return await runKcri(['exec', '-s', ...args], {endpoint: runtime.endpoint});
  }

  test('a command that exceeds its time limit exits with 124', async () => {
    expect(await execSync('--timeout', '3', 'main', 'sleep', '60')).toEqual({
      stdout: '',
      stderr: 'kcri: running "sleep" in container "main": timed out after 3s\n',
      exitCode: 124,
    });
  });

  test('a missing command is an error with a hint, and exits with 127', async () => {
    const {stdout, stderr, exitCode} = await execSync('main', 'nosuch');
    expect((stdout + stderr).trimEnd()).toMatch(
      // cri-dockerd reports the error as the output of the command.
      profile === 'cri-dockerd'
        ? /"nosuch": executable file not found in \$PATH: unknown$/
        : /"nosuch": executable file not found in \$PATH.*\nhint: "kcri debug/,
    );
    expect(exitCode).toBe(127);
  });
});

test('crictl prints the response of CRI-O for a time limit', async () => {
  await using runtime = await FakeRuntime.start({
    profile: 'cri-o',
    clock: FAST_CLOCK,
    containers: [aContainer({name: 'main'})],
  });
  const args = ['exec', '-s', '--timeout', '3', runtime.containers[0]!.id, 'sleep', '60'];
  const {stderr} = await runKcri(args, {endpoint: runtime.endpoint, env: {KCRI_COMPAT: 'crictl'}});
  expect(stderr).toContain(`command 'sleep 60' exited with -1: command timed out`);
});
