import {appendFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {InterruptedError} from '../../src/cli/process/interrupt.js';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {until} from '../base/until.js';
import {runKcri, type RunOptions} from '../cli/run-kcri.js';
import {aContainer, aSandbox, FakeRuntime, type FakeRuntimeOptions} from '../fakes/fake-runtime.js';
import {aContainerSpec, aManifest, createTestbed} from './command-testbed.js';
import {startKubelet} from './kubelet/kubelet-testbed.js';

const hex = (start: string): string => start.padEnd(64, '0');
const LINE = '2026-11-21T10:00:00.000000000Z stdout F';

const WEB = aSandbox({id: hex('aa1'), name: 'web', uid: 'uid-of-web'});
const SHOP = aSandbox({id: hex('aa2'), name: 'web', namespace: 'shop'});
const LABELLED = aSandbox({id: hex('aa3'), name: 'tool'});
/** A pod of crictl. */
const TOOL = {...LABELLED, config: {...LABELLED.config, labels: {}}};
const SINGLE = aSandbox({id: hex('aa4'), name: 'single'});

/** Starts a runtime with pods of a kubelet and of crictl. */
async function started(options: FakeRuntimeOptions = {}) {
  const directory = await temporaryDirectory();
  const log = join(directory, 'main.log');
  await writeFile(log, `${LINE} starting\n`);
  const runtime = await FakeRuntime.start({
    sandboxes: [WEB, SHOP, TOOL, SINGLE],
    containers: [
      aContainer({id: hex('c1'), sandbox: WEB, name: 'main', logPath: log}),
      aContainer({id: hex('c2'), sandbox: WEB, name: 'sidecar', logPath: log}),
      aContainer({id: hex('c3'), sandbox: TOOL, name: 'job', logPath: log}),
      aContainer({id: hex('c4'), sandbox: TOOL, name: 'done', state: 'CONTAINER_EXITED', exitCode: 3}),
      aContainer({id: hex('c5'), sandbox: SINGLE, name: 'single', logPath: log}),
    ],
    ...options,
  });
  onTestFinished(async () => {
    await runtime.stop();
  });
  const wait = async (args: readonly string[], run: RunOptions = {}) =>
    await runKcri(['--root-dir', directory, 'wait', ...args], {endpoint: runtime.endpoint, ...run});
  return {runtime, wait, log};
}

describe('wait --for=condition', () => {
  // Proves: wait, wait --for, wait --container, wait --pod, wait --namespace
  test.each([
    [['single', '--for=condition=Ready'], 'pod/single condition met\n'],
    [['pod/single', '--for=condition=ready=true'], 'pod/single condition met\n'],
    [['default/web', '--for=condition=PodReadyToStartContainers'], 'pod/web condition met\n'],
    [['uid-of-web', '--for=condition=ContainersReady'], 'pod/web condition met\n'],
    [['aa1', '--for=condition=Ready'], 'pod/web condition met\n'],
    [['tool/job', '--for=condition=Ready'], 'container/tool/job condition met\n'],
    [['c3', '--for=condition=Started'], 'container/tool/job condition met\n'],
    [['done', '--for=condition=Ready=false'], 'container/tool/done condition met\n'],
    [
      ['web', '-n', 'default', '-c', 'sidecar', '--for=condition=Ready'],
      'container/web/sidecar condition met\n',
    ],
    [['-p', 'default/web', 'main', '--for=condition=Ready'], 'container/web/main condition met\n'],
    [['-p', 'default/web', '--for=condition=Ready'], 'pod/web condition met\n'],
    [['default/web', '--for=jsonpath={.status.phase}=Running'], 'pod/web condition met\n'],
    [['default/web', '--for=jsonpath=.status.podIP'], 'pod/web condition met\n'],
  ])('%j prints %j', async (args, stdout) => {
    const {wait} = await started();
    expect(await wait(args)).toEqual({stdout, stderr: '', exitCode: 0});
  });

  test.each([
    [
      ['done', '--for=condition=Ready'],
      'container "default/tool/done" cannot reach condition Ready=True: exited with 3 (Error), and is not restarted: nothing manages it',
    ],
    [
      ['pod/tool', '--for=condition=Ready'],
      'pod "default/tool" cannot reach condition Ready=True: container "done" exited with 3 (Error), and is not restarted: nothing manages it',
    ],
  ])('%j fails at once', async (args, message) => {
    const {wait} = await started();
    expect(await wait(args)).toEqual({stdout: '', stderr: `kcri: ${message}\n`, exitCode: 1});
  });

  // Proves: wait --timeout
  test('a time limit names each target that is not in the condition, with its state', async () => {
    const {wait} = await started();
    const args = ['single', 'tool/job', 'pod/tool', '--for=condition=Ready=False', '--timeout=0'];
    const {stdout, stderr, exitCode} = await wait(args);
    expect({stdout, exitCode}).toEqual({stdout: 'pod/tool condition met\n', exitCode: 124});
    expect(stderr).toBe(
      'kcri: timed out waiting for condition Ready=False of pod "default/single": Running, 1/1 containers ready: Ready is True\n' +
        'kcri: timed out waiting for condition Ready=False of container "default/tool/job": running\n',
    );
    const later = await wait(['single', '--for=condition=Initialized', '--timeout=10ms']);
    expect(later.stderr).toBe(
      'kcri: timed out after 10ms waiting for condition Initialized=True of pod "default/single": Running, 1/1 containers ready: the runtime does not report this condition (only PodReadyToStartContainers, ContainersReady, Ready)\n',
    );
  });

  test('Ctrl-C ends the wait', async () => {
    const {wait, runtime} = await started();
    const controller = new AbortController();
    const waiting = wait(['single', '--for=exit', '--timeout=-1'], {signal: controller.signal});
    await until(() => runtime.callsTo('ContainerStatus').length > 0);
    controller.abort(new InterruptedError('SIGINT'));
    expect(await waiting).toEqual({stdout: '', stderr: 'kcri: interrupted\n', exitCode: 130});
  });

  test.each([
    [['single'], '--for is required'],
    [['single', '--for=ready'], 'invalid --for "ready"'],
    [['single', '--for=log=('], 'error parsing regexp: missing closing ): `(`'],
    [['single', '--for=exit', '--since=1m'], '--since requires --for=log=REGEX'],
    [['single', '--for=delete', '--exit-code'], '--exit-code requires --for=exit'],
    [['--for=exit'], 'no pod or container specified'],
    [['', '--for=exit'], 'the name of a pod or container must not be empty'],
    [['-l', 'app=none', '--for=exit'], 'no pod matches the flags'],
    [['sinble', '--for=exit'], 'no pod or container "sinble"\nhint: did you mean "single"?'],
    [['web', '--for=exit'], '"web" matches 2 pods\nhint: use one of default/web, shop/web'],
    [['default/web', '-c', 'mian', '--for=exit'], 'out of: sidecar, main\nhint: did you mean "main"?'],
    [['tool/job', '--for=condition=Initialized'], 'containers have no condition "Initialized"'],
    [['tool/job', '--for=jsonpath=.status'], '"default/tool/job" is a container'],
    [['single', '--for=jsonpath={.status'], 'error parsing jsonpath'],
  ])('%j is an error', async (args, message) => {
    const {wait} = await started();
    const {stdout, stderr, exitCode} = await wait(args);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toContain(message);
  });

  test('a word for a pod and for one of several containers is ambiguous', async () => {
    const pod = aSandbox({name: 'api'});
    const {wait} = await started({
      sandboxes: [pod],
      containers: [aContainer({sandbox: pod, name: 'api'}), aContainer({sandbox: pod, name: 'proxy'})],
    });
    expect((await wait(['api', '--for=condition=Ready'])).stderr).toContain(
      '"api" is both a pod and a container\nhint: use "pod/default/api" for the pod',
    );
    expect((await wait(['pod/default/api', 'api/api', '--for=condition=Ready'])).stdout).toBe(
      'pod/api condition met\ncontainer/api/api condition met\n',
    );
  });

  // Proves: wait --output, wait --template, wait --format, wait --no-headers
  test.each([
    [['-o', 'json'], /"pod": "single"/],
    [['--template', '{{len .}}'], /^\d+\n$/],
    [['--format', '{{json .}}'], /^\{.*\}\n$/],
    [['-o', 'custom-columns=A:.nothing', '--no-headers'], /^<none>\n$/],
  ])('%j prints the results', async (output, expected) => {
    const {wait} = await started();
    const {stdout, exitCode} = await wait(['single', '--for=condition=Ready', ...output]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(expected);
  });

  // Proves: wait --selector, wait --manager
  test.each([[['-l', 'app=nothing']], [['--manager', 'kcri']]])('%j selects the pods', async (selection) => {
    const {wait} = await started();
    const {stdout, exitCode} = await wait(['single', ...selection, '--for=condition=Ready']);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  });
});

describe('wait --for=exit', () => {
  // Proves: wait --exit-code
  test('prints the exit codes in the order of the targets, and exits with the first that is not 0', async () => {
    const {wait, runtime} = await started();
    const args = ['single', 'tool/job', 'done', '--for=exit', '--exit-code'];
    const waiting = wait(args);
    await until(() => runtime.callsTo('ContainerStatus').length > 0);
    runtime.exitContainer(hex('c3'), 7);
    runtime.exitContainer(hex('c5'), 0);
    expect(await waiting).toEqual({stdout: '0\n7\n3\n', stderr: '', exitCode: 7});
    expect((await wait(['done', '--for=exit'])).exitCode).toBe(0);
  });

  test.each([{profile: 'containerd-2'}, {profile: 'cri-dockerd'}] as const)(
    'prints the exit codes of all containers of a pod on $profile',
    async ({profile}) => {
      const {wait, runtime} = await started({profile});
      const waiting = wait(['default/web', '--for=exit', '-o', 'json']);
      await until(() => runtime.callsTo('ContainerStatus').length > 0);
      runtime.exitContainer(hex('c1'), 1);
      runtime.exitContainer(hex('c2'), 2);
      const {stdout, exitCode} = await waiting;
      expect({result: JSON.parse(stdout) as object, exitCode}).toEqual({
        result: {items: [{exitCodes: [1, 2], namespace: 'default', pod: 'web', uid: 'uid-of-web'}]},
        exitCode: 0,
      });
    },
  );
});

describe('wait --for=log', () => {
  // Proves: wait --since
  test('prints the first line that matches, also one that is written later', async () => {
    const {wait, log, runtime} = await started();
    expect(await wait(['tool/job', '--for=log=^start'])).toEqual({
      stdout: 'starting\n',
      stderr: '',
      exitCode: 0,
    });
    const waiting = wait(['default/web', '--for=log=listening on (\\d+)', '--timeout=-1']);
    const fresh = wait(['single', '--for=log=start', '--since=2026-11-21T10:00:01Z', '--timeout=-1']);
    await until(() => runtime.callsTo('ContainerStatus').length > 4);
    await appendFile(log, `${LINE.replace(' F', ' P')} listening \n${LINE} on 8080\n`);
    expect(await waiting).toEqual({stdout: 'listening on 8080\n', stderr: '', exitCode: 0});
    await appendFile(log, `${LINE.replace('10:00:00', '10:00:02')} restarting\n`);
    expect((await fresh).stdout).toBe('restarting\n');
  });

  test('fails when a container that nothing restarts has exited', async () => {
    const {wait, runtime} = await started();
    const waiting = wait(['tool/job', '--for=log=never', '--timeout=-1']);
    await until(() => runtime.callsTo('ContainerStatus').length > 0);
    runtime.exitContainer(hex('c3'), 4);
    expect(await waiting).toEqual({
      stdout: '',
      stderr:
        'kcri: container "default/tool/job" cannot reach a log line that matches "never": no line matched: container "job" exited with 4 (Error), and is not restarted: nothing manages it\n',
      exitCode: 1,
    });
  });
});

describe('wait --for=delete', () => {
  test('ends when pods and containers do not exist', async () => {
    const {wait, runtime} = await started();
    const waiting = wait(['single', 'done', '--for=delete', '--timeout=-1']);
    await until(() => runtime.callsTo('ContainerStatus').length > 0);
    const options = {endpoint: runtime.endpoint};
    expect((await runKcri(['rm', 'done'], options)).exitCode).toBe(0);
    expect((await runKcri(['rmp', '-f', 'single'], options)).exitCode).toBe(0);
    expect(await waiting).toMatchObject({stderr: '', exitCode: 0});
    expect(await wait(['single', '--for=delete'])).toEqual({
      stdout: '',
      stderr: 'kcri: no pod or container "single"\n',
      exitCode: 0,
    });
  });
});

describe('wait --for=create', () => {
  test('ends when the pods and containers exist', async () => {
    const {wait, runtime} = await started({sandboxes: [], containers: []});
    const waiting = wait(['late', 'late/main', '--for=create', '--timeout=-1']);
    await until(() => runtime.callsTo('ListPodSandbox').length > 1);
    const sandbox = aSandbox({id: hex('ab1'), name: 'late'});
    runtime.state.sandboxes.set(sandbox.id, sandbox);
    const container = aContainer({id: hex('cb1'), sandbox, name: 'main'});
    runtime.state.containers.set(container.id, container);
    expect(await waiting).toEqual({
      stdout: 'pod/late condition met\ncontainer/late/main condition met\n',
      stderr: '',
      exitCode: 0,
    });
  });

  test('what does not exist in time is reported with exit code 124', async () => {
    const {wait} = await started();
    expect(await wait(['single', 'nope', '--for=create', '--timeout=0'])).toMatchObject({
      stdout: 'pod/single condition met\n',
      stderr: expect.stringMatching(
        /^kcri: timed out waiting for the creation: no pod or container "nope"\n/,
      ) as string,
      exitCode: 124,
    });
  });
});

// Proves: wait --all
test('--all waits for all pods', async () => {
  const {wait} = await started();
  const {stdout} = await wait(['pods', '--all', '--for=condition=PodReadyToStartContainers']);
  expect(stdout.split('\n').toSorted()).toEqual([
    ...[
      '',
      'pod/single condition met',
      'pod/tool condition met',
      'pod/web condition met',
      'pod/web condition met',
    ],
  ]);
});

describe('wait for pods of kcri', () => {
  test('a pod that has ended cannot become ready, and its exit codes are known', async () => {
    const testbed = await createTestbed();
    const manifest = aManifest({
      restartPolicy: 'Never',
      containers: [aContainerSpec('main'), aContainerSpec('side')],
    });
    expect(await testbed.run(['sync', '-'], {stdin: manifest})).toMatchObject({exitCode: 0});
    const wait = async (...args: readonly string[]) =>
      await runKcri(['--root-dir', testbed.rootDir, 'wait', ...args], {endpoint: testbed.runtime.endpoint});
    expect(await wait('web', '--for=condition=Ready')).toMatchObject({stdout: 'pod/web condition met\n'});
    const [main, side] = testbed.runtime.containers;
    testbed.runtime.exitContainer(main?.id ?? '', 1);
    expect((await wait('web', '--for=condition=Ready')).stderr).toBe(
      'kcri: pod "default/web" cannot reach condition Ready=True: container "main" exited with 1 (Error), and is not restarted: restartPolicy is Never\n',
    );
    testbed.runtime.exitContainer(side?.id ?? '', 0);
    expect(await wait('web', '--for=exit')).toMatchObject({stdout: '1\n0\n', exitCode: 0});
    expect((await wait('web', '--for=condition=Ready')).stderr).toContain('it has ended (Failed)');
  });

  test('readiness is that of the probes, and a container is followed over its restarts', async () => {
    const {testbed, writeManifest, run} = await startKubelet();
    const wait = async (...args: readonly string[]) => await run(['wait', ...args, '--timeout=-1']);
    await writeManifest('web.yaml', aManifest({metadata: {uid: 'web-uid'}}));
    await until(async () => (await run(['get', 'pods', '-o', 'name'])).stdout !== '');
    expect((await wait('web-n1', '--for=condition=Ready')).stdout).toBe('pod/web-n1 condition met\n');
    const [first] = testbed.runtime.containers;
    // By its ID, since its next instance may start before the wait reads the pod.
    const exit = wait(first?.id ?? '', '--for=exit');
    const deleted = wait('web-n1', '--for=delete');
    testbed.runtime.exitContainer(first?.id ?? '', 9);
    expect(await exit).toEqual({stdout: '9\n', stderr: '', exitCode: 0});
    await until(() => testbed.runtime.containers.some(({config}) => config.metadata?.attempt === 1));
    expect((await wait('web-n1', '--for=condition=Ready')).exitCode).toBe(0);
    await writeManifest('web.yaml', '');
    expect(await deleted).toMatchObject({exitCode: 0});
  });
});
