import {readdir, symlink} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {until} from '../base/until.js';
import {runKcri} from '../cli/run-kcri.js';
import {
  aContainerSpec,
  aManifest,
  aScript,
  createTestbed,
  NO_LEFTOVERS,
  type CommandTestbed,
} from './command-testbed.js';

const CRASHING = aManifest({containers: [aScript('main', 'exit 2')]});

/** Runs a command without flags of manifests. */
async function view({rootDir, runtime: {endpoint}}: CommandTestbed, args: readonly string[]) {
  return await runKcri(['--root-dir', rootDir, ...args], {endpoint});
}

async function statusOf(testbed: CommandTestbed): Promise<string> {
  const {stdout} = await view(testbed, ['get', 'pods', '--no-headers']);
  return stdout.trim().split(/ +/)[2] ?? '';
}

/** Returns the names of the marks of processes that run pods. */
async function marks(testbed: CommandTestbed): Promise<readonly string[]> {
  const names = await readdir(join(testbed.rootDir, 'kcri/locks')).catch(() => []);
  return names.filter((name) => name.startsWith('__run-'));
}

test('a crashing pod that no process runs is shown as not restarted', async () => {
  const testbed = await createTestbed();
  const file = await testbed.write('web.json', CRASHING);
  await testbed.run(['sync', file]);
  const {stdout, stderr} = await view(testbed, ['get', 'pods']);
  expect(stdout).toMatch(/^web +0\/1 +NotRestarted +1 /m);
  expect(stderr).toBe(
    `kcri: note: pod "default/web" is not restarted: no kcri process runs this pod; "kcri sync ${file}" starts it again\n`,
  );
  const described = (await view(testbed, ['describe', 'web'])).stdout;
  expect(described).toMatch(/^Message: +not restarted: no kcri process runs this pod$/m);
  expect(described).toMatch(/State: +Waiting\n +Reason: +NotRestarted\n +Last State: +Terminated/);
  const {status} = JSON.parse((await view(testbed, ['get', 'pods', 'web', '-o', 'json'])).stdout) as {
    readonly status: {readonly containerStatuses: readonly object[]};
  };
  expect(status.containerStatuses).toMatchObject([
    {state: {waiting: {reason: 'NotRestarted', message: 'not restarted: no kcri process runs this pod'}}},
  ]);
  expect(await marks(testbed)).toEqual([]);
});

test('a pod of standard input has no file in the command that starts it again', async () => {
  const testbed = await createTestbed();
  await testbed.run(['sync', '-'], {stdin: CRASHING});
  const {stderr} = await view(testbed, ['get', 'pods']);
  expect(stderr).toContain('no kcri process runs this pod; "kcri sync FILE" starts it again\n');
});

test('a pod whose sync goes on is in CrashLoopBackOff, unless that process was killed', async () => {
  const testbed = await createTestbed();
  const controller = new AbortController();
  const file = await testbed.write('web.json', CRASHING);
  const running = testbed.run(['sync', file, '--timeout', '1h'], {signal: controller.signal});
  await until(async () => (await statusOf(testbed)) === 'CrashLoopBackOff');
  const [mark = ''] = await marks(testbed);
  expect((await view(testbed, ['get', 'pods'])).stderr).toBe('');
  controller.abort(new Error('stopped'));
  await running;
  expect(await marks(testbed)).toEqual([]);

  await symlink('1@1@00000000-0000-0000-0000-000000000000', join(testbed.rootDir, 'kcri/locks', mark));
  expect(await statusOf(testbed)).toBe('NotRestarted');
  await testbed.run(['delete', 'web']);
  expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
});

test('a pod without a process whose image cannot be pulled announces no further pull', async () => {
  const testbed = await createTestbed();
  const missing = aManifest({containers: [aContainerSpec('main', {image: 'localhost:5000/none:1'})]});
  const file = await testbed.write('web.json', missing);
  const cause = 'connection refused';
  testbed.runtime.injectError('PullImage', {code: 'UNKNOWN', message: cause});
  const controller = new AbortController();
  const running = testbed.run(['sync', file, '--timeout', '1h'], {signal: controller.signal});
  await until(async () => (await statusOf(testbed)) === 'ImagePullBackOff');
  controller.abort(new Error('stopped'));
  await running;
  const {stdout, stderr} = await view(testbed, ['get', 'pods']);
  expect(stdout).toMatch(/^web +0\/1 +ErrImagePull +0 /m);
  expect(stderr).toBe(
    `kcri: note: pod "default/web" is not started: no kcri process runs this pod; "kcri sync ${file}" pulls its images again\n`,
  );
  const {status} = JSON.parse((await view(testbed, ['get', 'pods', 'web', '-o', 'json'])).stdout) as {
    readonly status: {readonly containerStatuses: readonly object[]};
  };
  expect(status).toMatchObject({
    message: 'not started: no kcri process runs this pod',
    containerStatuses: [
      {
        state: {
          waiting: {
            reason: 'ErrImagePull',
            message: expect.stringMatching(
              /^(?!Back-off).*connection refused; not pulled again: no kcri process runs this pod$/,
            ) as string,
          },
        },
      },
    ],
  });
});

test.each([
  ['Always', 0, 'NotReady', true],
  ['Always', 3, 'Error', true],
  ['OnFailure', 3, 'Error', true],
  ['Never', 3, 'Error', false],
])(
  'a container of restartPolicy %s that exited with %i after its sync has a note: %s',
  async (restartPolicy, exitCode, shown, hasNote) => {
    const testbed = await createTestbed();
    const other = aContainerSpec('other');
    const file = await testbed.write(
      'web.json',
      aManifest({restartPolicy, containers: [aContainerSpec('main'), other]}),
    );
    expect(await testbed.run(['sync', file])).toMatchObject({exitCode: 0});
    const main = testbed.runtime.containers.find(({config}) => config.metadata?.name === 'main');
    testbed.runtime.exitContainer(main?.id ?? '', exitCode);
    const {stdout, stderr} = await view(testbed, ['get', 'pods']);
    expect(stdout).toMatch(new RegExp(`^web +1/2 +${shown} +0 `, 'm'));
    expect(stderr).toBe(
      hasNote
        ? `kcri: note: pod "default/web" is not restarted: no kcri process runs this pod; "kcri sync ${file}" starts it again\n`
        : '',
    );
  },
);

test('the sync that runs a pod starts the next instance of a container that is restarted', async () => {
  const testbed = await createTestbed({exec: () => ({stdout: '', stderr: '', exitCode: 1})});
  const unready = aContainerSpec('other', {readinessProbe: {exec: {command: ['false']}}});
  const file = await testbed.write('web.json', aManifest({containers: [aContainerSpec('main'), unready]}));
  const controller = new AbortController();
  const running = testbed.run(['sync', file, '--timeout', '1h'], {signal: controller.signal});
  const instances = () =>
    testbed.runtime.containers
      .filter(({config}) => config.metadata?.name === 'main')
      .map(({config, state}) => [config.metadata?.attempt, state]);
  await until(() => instances().some(([, state]) => state === 'CONTAINER_RUNNING'));
  expect(await view(testbed, ['restart', 'web/main', '-t', '0'])).toMatchObject({exitCode: 0});
  controller.abort(new Error('stopped'));
  await running;
  expect(instances()).toEqual([
    [0, 'CONTAINER_EXITED'],
    [1, 'CONTAINER_RUNNING'],
  ]);
  // The sync created it: "kcri restart" would have done so before it stopped the first one.
  const calls = testbed.runtime.calls
    .map(({method}) => method)
    .filter((method) => /^(Create|Stop)Container/.test(method));
  expect(calls.indexOf('StopContainer')).toBeLessThan(calls.lastIndexOf('CreateContainer'));
});
