import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {runKcri} from '../cli/run-kcri.js';
import {FakeRuntime, aContainer, aSandbox, BUILT_AT_NANOS} from '../fakes/fake-runtime.js';
import {FakeStreamingServer} from '../fakes/streaming/fake-streaming-server.js';
import {aContainerSpec, aManifest, createTestbed} from './command-testbed.js';

const hex = (start: string): string => start.padEnd(64, '0');
const NOTE = 'Defaulted container "server" out of: server, sidecar\n';

interface Scene {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ignoresFilters?: boolean;
}

/** Starts a runtime with a pod of two containers, and two pods of the same name in other namespaces. */
async function started({annotations = {}, ignoresFilters = false}: Scene = {}) {
  const directory = await temporaryDirectory();
  const log = async (text: string): Promise<string> => {
    const path = join(directory, `${text}.log`);
    await writeFile(path, `2026-11-21T10:00:00.000000000Z stdout F from ${text}\n`);
    return path;
  };
  const streams = await FakeStreamingServer.start({
    handleSession: (session) => {
      session.sendExitCode(0);
    },
  });
  const web = aSandbox({id: hex('aa1'), name: 'web', uid: 'uid-of-web', annotations});
  const single = aSandbox({id: hex('aa2'), name: 'single'});
  const [one, other] = ['one', 'two'].map((namespace) => aSandbox({name: 'twin', namespace}));
  const runtime = await FakeRuntime.start({
    streamingUrl: streams.url,
    ignoresFilters,
    sandboxes: [web, single, one!, other!],
    containers: [
      aContainer({id: hex('c1'), sandbox: web, name: 'server', logPath: await log('server')}),
      aContainer({
        id: hex('c2'),
        sandbox: web,
        name: 'sidecar',
        createdAt: BUILT_AT_NANOS + 1n,
        logPath: await log('sidecar'),
      }),
      aContainer({id: hex('c3'), sandbox: single, name: 'main', logPath: await log('main')}),
      aContainer({id: hex('c4'), sandbox: one!, name: 'lone', logPath: await log('lone')}),
    ],
    exec: () => ({stdout: 'done\n', stderr: '', exitCode: 0}),
  });
  onTestFinished(async () => {
    await runtime.stop();
    await streams[Symbol.asyncDispose]();
  });
  const kcri = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    await runKcri(args, {endpoint: runtime.endpoint, env});
  const containers = runtime.containers.map(({id}) => id as unknown);
  // A call with the full ID of a pod fails.
  const executedIn = () =>
    runtime
      .callsTo('ExecSync')
      .map(({request}) => request['container_id'])
      .filter((id) => containers.includes(id));
  return {runtime, kcri, executedIn};
}

describe('exec and logs of a pod', () => {
  test.each([
    ['its name', 'web'],
    ['NAMESPACE/NAME', 'default/web'],
    ['its UID', 'uid-of-web'],
    ['its sandbox ID', hex('aa1')],
    ['an ID prefix', 'aa1'],
  ])('by %s use its first container, with a note', async (_, ref) => {
    const {kcri, executedIn} = await started();
    expect(await kcri(['exec', '-s', ref, 'true'])).toEqual({stdout: 'done\n', stderr: NOTE, exitCode: 0});
    expect(executedIn()).toEqual([hex('c1')]);
    expect(await kcri(['logs', ref])).toEqual({stdout: 'from server\n', stderr: NOTE, exitCode: 0});
  });

  test.each([['single'], [hex('aa2')]])('use the only container without a note: %s', async (ref) => {
    const {kcri, executedIn} = await started();
    expect(await kcri(['exec', '-s', ref, 'true'])).toEqual({stdout: 'done\n', stderr: '', exitCode: 0});
    expect(executedIn()).toEqual([hex('c3')]);
  });

  test('use the container of the annotation', async () => {
    const annotations = {'kubectl.kubernetes.io/default-container': 'sidecar'};
    const {kcri, executedIn} = await started({annotations});
    expect(await kcri(['exec', '-s', 'web', 'true'])).toMatchObject({stderr: '', exitCode: 0});
    expect(executedIn()).toEqual([hex('c2')]);
  });

  // Proves: exec --container, logs --container
  test('use the container that -c names', async () => {
    const {kcri, executedIn} = await started();
    expect(await kcri(['exec', '-s', '-c', 'sidecar', 'web', 'true'])).toMatchObject({
      stderr: '',
      exitCode: 0,
    });
    expect(executedIn()).toEqual([hex('c2')]);
    expect((await kcri(['logs', 'web', '--container=sidecar'])).stdout).toBe('from sidecar\n');
  });

  test('use containers of that pod only on a runtime that ignores filters', async () => {
    const {kcri, executedIn} = await started({ignoresFilters: true});
    expect((await kcri(['exec', '-s', hex('aa2'), 'true'])).exitCode).toBe(0);
    expect(executedIn()).toEqual([hex('c3')]);
  });

  test('exec -q prints no note', async () => {
    const {kcri} = await started();
    expect((await kcri(['exec', '-sq', 'web', 'true'])).stderr).toBe('');
  });

  // Proves: inspect --container
  test.each([
    [['web'], 'c1', NOTE],
    [['default/web'], 'c1', NOTE],
    [['uid-of-web'], 'c1', NOTE],
    [[hex('aa1')], 'c1', NOTE],
    [['web', '-c', 'sidecar'], 'c2', ''],
    [[hex('aa2')], 'c3', ''],
    [[hex('c3')], 'c3', ''],
  ])('inspect %j shows that container', async (args, start, stderr) => {
    const {kcri} = await started();
    const template = ['-o', 'jsonpath={.status.id}'];
    expect(await kcri(['inspect', ...args, ...template])).toMatchObject({
      stdout: expect.stringContaining(hex(start)) as string,
      stderr,
      exitCode: 0,
    });
  });

  test.each([
    [['inspect', '-c', 'main'], '--container requires a pod\nhint: name the pod'],
    [
      ['inspect', 'web', '-c', 'main', '--name', 'main'],
      '--container cannot be combined with filters\nhint: ',
    ],
    [['inspect', 'singel'], 'no such container "singel"\nhint: did you mean "single"?'],
    [
      ['exec', '-s', '-c', 'sidcar', 'web', 'true'],
      'container sidcar is not valid for pod web out of: server, sidecar\nhint: did you mean "sidecar"?',
    ],
    [
      ['exec', '-s', '-c', 'nope', 'web', 'true'],
      'container nope is not valid for pod web out of: server, sidecar',
    ],
    [
      ['exec', '-s', '-c', 'main', 'main', 'true'],
      '"main" is a container, not a pod\nhint: use its pod "default/single"',
    ],
    [['exec', '-c', 'a', '--name', 'b', 'true'], '--container cannot be combined with filters\nhint: '],
    [['exec', '-s', 'twin', 'true'], '"twin" matches 2 pods\nhint: use one of '],
    [['logs', 'two/twin'], 'pod twin does not have any containers'],
  ])('%j exits with 1', async (args, message) => {
    const {kcri, executedIn} = await started();
    const {stderr, exitCode} = await kcri(args);
    expect(stderr).toContain(`kcri: ${message}`);
    expect({exitCode, executed: executedIn()}).toEqual({exitCode: 1, executed: []});
  });

  test('logs of a missing pod do not hide those of another', async () => {
    const {kcri} = await started();
    const {stdout, exitCode} = await kcri(['logs', 'two/twin', 'single']);
    expect({stdout, exitCode}).toEqual({stdout: 'from main\n', exitCode: 1});
  });
});

describe('attach', () => {
  // Proves: attach --container
  test.each([
    [['web'], 'c1', NOTE],
    [['-c', 'sidecar', 'web'], 'c2', ''],
    [[hex('aa2')], 'c3', ''],
  ])('%j attaches to a container of the pod', async (args, start, note) => {
    const {kcri, runtime} = await started();
    const attaching = kcri(['attach', ...args]);
    await expect
      .poll(() => runtime.callsTo('Attach').at(-1)?.request)
      .toMatchObject({container_id: hex(start)});
    runtime.exitContainer(hex(start), 0);
    expect(await attaching).toEqual({stdout: '', stderr: note, exitCode: 0});
  });
});

describe('a pod where a container is required', () => {
  test.each([
    [['stop', 'web'], 'use "kcri stopp" for pods'],
    [['rm', '-f', hex('aa1')], 'use "kcri rmp" for pods'],
    [['stats', 'web'], 'use "kcri statsp" for pods'],
    [['start', 'web'], 'run "kcri ps -a --pod=web" to list its containers'],
    [['update', '--cpu-share=2', hex('aa1')], `run "kcri ps -a --pod=${hex('aa1')}" to list its containers`],
  ])('is an error that names the command: %j', async (args, hint) => {
    const {kcri, runtime} = await started();
    const {stderr, exitCode} = await kcri(args);
    expect(stderr).toContain(`kcri: "${args.at(-1) ?? ''}" is a pod, not a container\nhint: ${hint}\n`);
    expect(exitCode).toBe(1);
    expect(runtime.containers).toHaveLength(4);
  });
});

describe('a container where a pod is required', () => {
  test.each([
    [['stopp', 'main'], 'use "kcri stop" for containers'],
    [['rmp', '-f', hex('c3')], 'use "kcri rm" for containers'],
    [['inspectp', 'single/main'], 'use "kcri inspect" for containers'],
    [['statsp', hex('c3')], 'use "kcri stats" for containers'],
    [['port-forward', 'main', '80'], 'use its pod "default/single"'],
    [['port-forward', hex('c3'), '80'], 'use its pod "default/single"'],
    [['stop', '--pod', 'main'], 'use its pod "default/single"'],
  ])('is an error that names the command or the pod: %j', async (args, hint) => {
    const {kcri, runtime} = await started();
    const {stderr, exitCode} = await kcri(args);
    expect(stderr).toMatch(/^kcri: (listing containers: )?"[^"]+" is a container, not a pod\n/);
    expect(stderr).toContain(`\nhint: ${hint}\n`);
    expect(exitCode).toBe(1);
    expect(runtime.sandboxes).toHaveLength(4);
  });
});

describe('an unknown name', () => {
  test.each([
    [['stop', 'sidcar'], 'no such container "sidcar"\nhint: did you mean "sidecar"?'],
    [['exec', 'singel', 'true'], 'no such container "singel"\nhint: did you mean "single"?'],
    [['stop', 'singel'], 'no such container "singel"\nhint: run "kcri ps -a" to list containers'],
    [['stopp', 'singel'], 'no such pod "singel"\nhint: did you mean "single"?'],
    [['stopp', 'nothing-like-it'], 'no such pod "nothing-like-it"\nhint: run "kcri pods" to list pods'],
  ])('suggests the closest one: %j', async (args, message) => {
    const {kcri} = await started();
    expect(await kcri(args)).toMatchObject({
      stderr: expect.stringContaining(`kcri: ${message}\n`) as string,
      exitCode: 1,
    });
  });
});

describe('called as crictl', () => {
  const env = {KCRI_COMPAT: 'crictl'};

  test.each([
    [['exec', '-s', hex('aa1'), 'true'], 'ExecSync', 'container_id'],
    [['inspect', hex('aa1')], 'ContainerStatus', 'container_id'],
    [['logs', hex('aa1')], 'ContainerStatus', 'container_id'],
    [['attach', 'web'], 'Attach', 'container_id'],
  ])('%j passes the word to the runtime', async (args, method, field) => {
    const {kcri, runtime} = await started();
    expect((await kcri(args, env)).exitCode).toBe(1);
    const [call] = runtime.calls.filter((each) => each.method === method);
    expect(call?.request).toMatchObject({[field]: args.find((word) => word === 'web' || word.length === 64)});
    expect(runtime.calls.filter((each) => each.method.startsWith('List'))).toEqual([]);
  });
});

test('of a pod that kcri created, the first container of the spec is used, not an init container', async () => {
  const testbed = await createTestbed({exec: () => ({stdout: 'done\n', stderr: '', exitCode: 0})});
  const stdin = aManifest({
    initContainers: [aContainerSpec('setup', {command: ['true']})],
    containers: [aContainerSpec('app'), aContainerSpec('extra')],
  });
  const [id = ''] = (await testbed.run(['runp', '-'], {stdin})).stdout.split('\n');
  const {stdout, stderr} = await runKcri(['--root-dir', testbed.rootDir, 'exec', '-s', id, 'true'], {
    endpoint: testbed.runtime.endpoint,
  });
  expect({stdout, stderr}).toEqual({
    stdout: 'done\n',
    stderr: 'Defaulted container "app" out of: app, extra, setup (init)\n',
  });
});
