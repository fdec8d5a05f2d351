import {readFile} from 'node:fs/promises';
import {describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {until} from '../base/until.js';
import {runKcri, type RunOptions} from '../cli/run-kcri.js';
import {aContainer, aSandbox, FakeRuntime, type FakeRuntimeOptions} from '../fakes/fake-runtime.js';
import {aManifest, createTestbed} from './command-testbed.js';
import {startRecorder} from './record/recorder.js';
import {startKubelet} from './kubelet/kubelet-testbed.js';

const hex = (start: string): string => start.padEnd(64, '0');

function bare(name: string, state: 'SANDBOX_READY' | 'SANDBOX_NOTREADY' = 'SANDBOX_READY') {
  const labelled = aSandbox({name, state});
  return {...labelled, config: {...labelled.config, labels: {}}};
}

/** Starts a runtime with pods of crictl. */
async function started(options: FakeRuntimeOptions = {}) {
  const [tool, stopped] = [bare('tool'), bare('stopped', 'SANDBOX_NOTREADY')];
  const directory = await temporaryDirectory();
  const runtime = await FakeRuntime.start({
    sandboxes: [tool, stopped],
    containers: [
      aContainer({id: hex('c1'), sandbox: tool, name: 'main', command: ['serve'], labels: {app: 'tool'}}),
      aContainer({
        id: hex('c2'),
        sandbox: tool,
        name: 'done',
        state: 'CONTAINER_EXITED',
        exitCode: 3,
        attempt: 4,
      }),
      aContainer({id: hex('c3'), sandbox: stopped, name: 'old', state: 'CONTAINER_EXITED'}),
    ],
    ...options,
  });
  onTestFinished(async () => {
    await runtime.stop();
  });
  const restart = async (args: readonly string[], run: RunOptions = {}) =>
    await runKcri(['--root-dir', directory, 'restart', ...args], {endpoint: runtime.endpoint, ...run});
  const containers = () =>
    runtime.containers.map(({id, config, state}) => ({
      isNew: !id.endsWith('0000'),
      name: config.metadata?.name,
      attempt: config.metadata?.attempt,
      state,
      command: config.command,
    }));
  return {runtime, restart, containers};
}

test('the restart of a pod of kcri through a recorder is recorded', async () => {
  const testbed = await createTestbed();
  const file = await testbed.write('calls.jsonl', '');
  const {endpoint, end} = await startRecorder(testbed.runtime, [`--file=${file}`]);
  const manifest = await testbed.write('pod.json', aManifest());
  expect((await testbed.run(['sync', manifest], {endpoint})).exitCode).toBe(0);
  const restart = ['--root-dir', testbed.rootDir, 'restart', 'web/main'];
  expect((await runKcri(restart, {endpoint})).exitCode).toBe(0);
  await end();
  const recorded = await readFile(file, 'utf8');
  expect(recorded.match(/"method":"CreateContainer"/g)).toHaveLength(2);
});

describe('restart of containers without a manager', () => {
  // Proves: restart, restart --quiet, restart --timeout
  test('replaces a container by one with the same config and the next attempt', async () => {
    const {runtime, restart, containers} = await started();
    const {stdout, stderr, exitCode} = await restart(['tool/main', '-q', '-t', '7']);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(stdout).toMatch(/^[0-9a-f]{64}\n$/);
    expect(containers()).toContainEqual({
      isNew: true,
      name: 'main',
      attempt: 1,
      state: 'CONTAINER_RUNNING',
      command: ['serve'],
    });
    expect(runtime.containers.map(({id}) => id)).not.toContain(hex('c1'));
    expect(runtime.callsTo('StopContainer')[0]?.request).toMatchObject({timeout: '7'});
    const order = runtime.calls
      .map(({method}) => method)
      .filter((method) => /^(Create|Stop|Start|Remove)/.test(method));
    expect(order).toEqual(['CreateContainer', 'StopContainer', 'StartContainer', 'RemoveContainer']);
  });

  // Proves: restart --keep-old, restart --output
  test('starts an exited container again, and keeps the old one on request', async () => {
    const {restart, containers, runtime} = await started();
    const {stdout} = await restart(['tool', '--keep-old', '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({
      items: [
        {namespace: 'default', pod: 'tool', container: 'main', oldId: hex('c1')},
        {container: 'done', oldId: hex('c2')},
      ],
    });
    expect(containers().map(({name, attempt, state}) => [name, attempt, state])).toEqual(
      expect.arrayContaining([
        ['main', 0, 'CONTAINER_EXITED'],
        ['main', 1, 'CONTAINER_RUNNING'],
        ['done', 4, 'CONTAINER_EXITED'],
        ['done', 5, 'CONTAINER_RUNNING'],
      ]) as unknown,
    );
    expect(runtime.callsTo('StopContainer')[0]?.request).toMatchObject({timeout: '10'});
  });

  test.each(['CONTAINER_CREATED', 'CONTAINER_RUNNING'] as const)(
    'leaves one instance after a killed restart that left another one %s',
    async (state) => {
      const tool = bare('tool');
      const {restart, containers} = await started({
        sandboxes: [tool],
        containers: [
          aContainer({id: hex('c1'), sandbox: tool, name: 'main', command: ['serve']}),
          aContainer({
            id: hex('c2'),
            sandbox: tool,
            name: 'main',
            attempt: 1,
            state,
            createdAt: BigInt(Number.MAX_SAFE_INTEGER),
          }),
        ],
      });
      expect(await restart(['tool/main'])).toMatchObject({stderr: '', exitCode: 0});
      expect(containers()).toMatchObject([{attempt: 2, state: 'CONTAINER_RUNNING'}]);
    },
  );

  test('changes nothing if the new instance cannot be created', async () => {
    const {runtime, restart, containers} = await started();
    runtime.injectError('CreateContainer', {code: 'UNKNOWN', message: 'no space left'});
    const before = containers();
    const {stderr, exitCode} = await restart(['main']);
    expect({stderr, exitCode}).toEqual({
      stderr:
        'kcri: cannot create the next instance of container "default/tool/main", which is unchanged: no space left\n',
      exitCode: 1,
    });
    expect(containers()).toEqual(before);
  });

  test('says what is left if the new instance cannot be started, and can be repeated', async () => {
    const {runtime, restart, containers} = await started();
    runtime.injectError('StartContainer', {code: 'UNKNOWN', message: 'no such file', times: 1});
    const {stderr} = await restart(['main']);
    expect(stderr).toBe(
      'kcri: container "default/tool/main" is stopped (c100000000000), and its next instance cannot be started: no such file\n',
    );
    expect(containers().filter(({name}) => name === 'main')).toMatchObject([{state: 'CONTAINER_EXITED'}]);
    expect((await restart(['main'])).exitCode).toBe(0);
  });

  test.each([
    [['old'], 'cannot restart container "default/stopped/old": the sandbox of its pod is stopped'],
    [['mian'], 'no pod or container "mian"\nhint: did you mean "main"?'],
    [[], 'no pod or container specified'],
    [['main', '-t', '-1'], '--timeout must not be negative'],
  ])('%j is an error', async (args, message) => {
    const {restart, runtime} = await started();
    const {stdout, stderr, exitCode} = await restart(args);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toContain(message);
    expect(runtime.callsTo('CreateContainer')).toEqual([]);
  });

  test('a runtime without the config of containers is an error that changes nothing', async () => {
    const {restart, runtime} = await started({profile: 'cri-dockerd'});
    expect((await restart(['main'])).stderr).toContain(
      'the runtime does not return its config\nhint: stop it, and use',
    );
    expect(runtime.callsTo('StopContainer')).toEqual([]);
  });
});

describe('restart of pods of kcri', () => {
  test('the pod of a sync keeps its identity', async () => {
    const testbed = await createTestbed();
    expect(await testbed.run(['sync', '-'], {stdin: aManifest()})).toMatchObject({exitCode: 0});
    const kcri = async (...args: readonly string[]) =>
      await runKcri(['--root-dir', testbed.rootDir, ...args], {endpoint: testbed.runtime.endpoint});
    expect(await kcri('restart', 'web')).toMatchObject({
      stdout: expect.stringMatching(/^container "default\/web\/main" restarted as [0-9a-f]{13}\n$/) as string,
      exitCode: 0,
    });
    expect(testbed.runtime.containers).toMatchObject([
      {config: {metadata: {attempt: 0}}, state: 'CONTAINER_EXITED'},
      {
        config: {
          metadata: {attempt: 1},
          annotations: {'io.kubernetes.container.restartCount': '1'},
          logPath: 'main/1.log',
        },
      },
    ]);
    expect((await kcri('get', 'pods', '--no-headers')).stdout).toMatch(/^web +1\/1 +Running +1 /);
    const {stdout} = await kcri('describe', 'web');
    expect(stdout).toMatch(/^ +Last State: +Terminated$/m);
    expect(stdout).toMatch(/^ +Normal +Restarted .* main +Container restarted by "kcri restart"$/m);
    await kcri('restart', 'web');
    expect(testbed.runtime.containers.map(({config}) => config.metadata?.attempt)).toEqual([1, 2]);
    expect(await testbed.run(['sync', '-'], {stdin: aManifest()})).toMatchObject({exitCode: 0});
    expect(testbed.runtime.containers).toHaveLength(2);
  });

  test('restartPolicy Never is an error', async () => {
    const testbed = await createTestbed();
    expect(await testbed.run(['sync', '-'], {stdin: aManifest({restartPolicy: 'Never'})})).toMatchObject({
      exitCode: 0,
    });
    testbed.runtime.clearCalls();
    const {stderr, exitCode} = await runKcri(['--root-dir', testbed.rootDir, 'restart', 'web/main'], {
      endpoint: testbed.runtime.endpoint,
    });
    expect({stderr, exitCode}).toEqual({
      stderr:
        'kcri: cannot restart container "default/web/main": restartPolicy is Never, so that it would not be started again\n',
      exitCode: 1,
    });
    expect(testbed.mutatingCalls).toEqual([]);
  });

  // Proves: restart --wait
  test('a running kubelet starts the next instance', async () => {
    const {testbed, writeManifest, run} = await startKubelet();
    await writeManifest('web.yaml', aManifest({metadata: {uid: 'web-uid'}}));
    await until(() => testbed.runtime.containers.some(({state}) => state === 'CONTAINER_RUNNING'));
    const [first] = testbed.runtime.containers;
    const {stdout, exitCode} = await run(['restart', 'pod/web-n1', '-q', '--wait=5m', '-t', '0']);
    expect(exitCode).toBe(0);
    expect(stdout.trim()).not.toBe(first?.id);
    expect(testbed.runtime.containers.find(({id}) => id === stdout.trim())).toMatchObject({
      state: 'CONTAINER_RUNNING',
      config: {metadata: {attempt: 1}},
    });
  });
});
