import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {findLiveKubelet} from '../../../../src/kubelet/node/find-live-kubelet.js';
import {ManagedPods} from '../../../../src/kubelet/pods/registry/managed-pods.js';
import {openPodRegistry} from '../../../../src/kubelet/pods/registry/open-pod-registry.js';
import {SILENT_OBSERVER} from '../../../../src/kubelet/pods/registry/pod-registry-options.js';
import {until} from '../../../base/until.js';
import {fakeLogger} from '../../../base/fake-logger.js';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {DaemonTestbed} from '../daemon-testbed.js';

const MINUTE_MS = 60_000;
const CHANGES = /^(RunPodSandbox|Stop|Remove|Create|Start|Update)/;

const manifest = (name: string): string => aManifest({name, containers: [aContainerSpec('main')]});

/** Starts pods and stops their kubelet, and then removes what a kubelet does not store. */
async function leaveNode(...names: readonly string[]): Promise<DaemonTestbed> {
  const testbed = await DaemonTestbed.start();
  for (const name of names) await testbed.put(`${name}.yaml`, manifest(name));
  for (const name of names)
    await testbed.until(`pod "${name}" runs`, () => testbed.statusOf(name).ready === 1);
  await testbed.stop();
  await rm(join(testbed.rootDir, 'kcri'), {recursive: true});
  return testbed;
}

/** Returns the changing calls that the runtime has received since the call number. */
const changesSince = (testbed: DaemonTestbed, count: number): readonly string[] =>
  testbed.fake.calls.slice(count).flatMap(({method}) => (CHANGES.test(method) ? [method] : []));

test('pods that another kubelet has left keep running, and their containers are restarted', async () => {
  await using testbed = await leaveNode('web', 'db');
  const before = testbed.fake.calls.length;
  testbed.run();
  await testbed.until(
    'the pods are known',
    () => testbed.statusOf('web').ready + testbed.statusOf('db').ready === 2,
  );
  await testbed.clock.sleep(2 * MINUTE_MS);
  expect(changesSince(testbed, before)).toEqual([]);
  testbed.kill('main');
  await testbed.until('the container is restarted', () =>
    testbed.running.some((name) => name.endsWith('/main/1')),
  );
  expect(testbed.running).toHaveLength(2);
});

/** Starts a process that looks like a kubelet with the root directory. */
function startFakeKubelet(
  rootDir: string,
): Disposable & {readonly pid: number | undefined; stop(): Promise<void>} {
  const args = ['-c', 'read line', 'sh', `--root-dir=${rootDir}`];
  const kubelet = spawn('sh', args, {argv0: 'kubelet', stdio: ['pipe', 'ignore', 'ignore']});
  kubelet.unref(); // the fake clock waits for programs
  const exited = once(kubelet, 'exit');
  const kill = (): void => void kubelet.kill('SIGKILL');
  return {
    pid: kubelet.pid,
    stop: async () => {
      kubelet.ref();
      kill();
      await exited;
    },
    [Symbol.dispose]: kill,
  };
}

const isConflict = (fields: unknown): boolean => (fields as {reason?: string}).reason === 'KubeletConflict';

/** Returns the fields of the log entries with the message. */
const logged = ({log}: DaemonTestbed, message: string): readonly unknown[] =>
  log.flatMap((entry) => (entry.message === message ? [entry.fields] : []));

test('a static pod that runs with another UID is kept while its manifest does not change', async () => {
  await using testbed = await leaveNode('web');
  const {podDirs} = await testbed.listRemains();
  await testbed.remove('web.yaml');
  await testbed.put('moved.yaml', manifest('web')); // the UID depends on the path
  const before = testbed.fake.calls.length;
  for (const whose of ['a kubelet', 'kcri']) {
    testbed.run();
    await testbed.until(`the pod of ${whose} is known`, () => testbed.statusOf('web').ready === 1);
    await testbed.clock.sleep(MINUTE_MS);
    await testbed.stop();
    expect(changesSince(testbed, before)).toEqual([]);
    expect((await testbed.listRemains())['podDirs']).toEqual(podDirs);
  }
  const message = 'Keeping static pod that runs with another UID than that of its manifest';
  expect(logged(testbed, message)).toMatchObject([{podUID: podDirs?.[0]}, {podUID: podDirs?.[0]}]);

  await testbed.put('moved.yaml', aManifest({name: 'web', metadata: {labels: {app: 'web'}}}));
  testbed.run();
  await testbed.until('the pod is replaced', async () => {
    const now = (await testbed.listRemains())['podDirs'];
    return now?.length === 1 && now[0] !== podDirs?.[0] && testbed.statusOf('web').ready === 1;
  });
});

test('the configs of a static pod with the UID of its manifest are not read, and it is kept when that moves', async () => {
  await using testbed = await leaveNode('web');
  const before = testbed.fake.calls.length;
  testbed.run();
  await testbed.until('the pod is known', () => testbed.statusOf('web').ready === 1);
  const isVerbose = ({request}: {readonly request: unknown}): boolean =>
    (request as {readonly verbose?: boolean}).verbose === true;
  expect(testbed.fake.calls.slice(before).filter(isVerbose)).toEqual([]);
  await testbed.put('moved.yaml', manifest('web')); // the UID depends on the path
  await testbed.remove('web.yaml');
  await testbed.clock.sleep(MINUTE_MS);
  expect(changesSince(testbed, before)).toEqual([]);
  expect(testbed.statusOf('web').ready).toBe(1);
});

test.each([
  ['changed', aContainerSpec('main', {args: ['--new']}), 'container "main": args'],
  ['renamed', aContainerSpec('other'), 'container "other": config (not reported by the runtime)'],
])('a static pod whose container has been %s is replaced', async (_how, container, change) => {
  await using testbed = await leaveNode('web');
  const {podDirs} = await testbed.listRemains();
  await testbed.put('web.yaml', aManifest({name: 'web', containers: [container]}));
  testbed.run();
  await testbed.until('the pod is replaced', async () => {
    const now = (await testbed.listRemains())['podDirs'];
    return now?.length === 1 && now[0] !== podDirs?.[0] && testbed.statusOf('web').ready === 1;
  });
  const message = 'Replacing static pod of another kubelet, its manifest has changed';
  expect(logged(testbed, message)).toMatchObject([{changed: expect.arrayContaining([change]) as unknown}]);
});

test('a pod that another kubelet has left and that is in no source is stopped and removed', async () => {
  await using testbed = await leaveNode('web', 'db');
  await testbed.remove('db.yaml');
  testbed.run();
  await testbed.until('only the other pod is left', async () => {
    const {sandboxes, podDirs, logs} = await testbed.listRemains();
    return [sandboxes, podDirs, logs].every((found) => found?.length === 1);
  });
  expect(testbed.running).toEqual(['web-goldennode/main/0']);
  expect(testbed.callsToForeignPod).toEqual([]);
});

test('a pod whose container has exited before keeps its attempt count', async () => {
  await using testbed = await leaveNode('web');
  testbed.kill('main', 1);
  testbed.run();
  await testbed.until('the container runs again', () => testbed.running.includes('web-goldennode/main/1'));
});

test('a container in back-off waits for as long as under the other kubelet', async () => {
  await using testbed = await DaemonTestbed.start({manifests: {'web.yaml': manifest('web')}});
  await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 1);
  for (const attempt of [1, 2, 3]) {
    testbed.kill('main', 1);
    await testbed.until('it runs again', () => testbed.running.includes(`web-goldennode/main/${attempt}`));
  }
  await testbed.stop();
  testbed.kill('main', 1);
  await rm(join(testbed.rootDir, 'kcri'), {recursive: true});
  testbed.run();
  // Under this kubelet alone, the first delay would be 10 s.
  await testbed.until('it waits', () =>
    testbed.errors.some((error) => error.includes('"back-off 40s restarting failed container=main')),
  );
});

test('a running pod whose directory is gone is taken over, since its containers mount files of it', async () => {
  await using testbed = await leaveNode('web');
  const pods = join(testbed.rootDir, 'pods');
  const [uid = ''] = (await testbed.listRemains())['podDirs'] ?? [];
  await rm(join(pods, uid), {recursive: true});
  const before = testbed.fake.calls.length;
  testbed.run();
  await testbed.until('the pod is known', () => testbed.statusOf('web').ready === 1);
  expect(changesSince(testbed, before)).toEqual([]);
  expect((await testbed.listRemains())['podDirs']).toEqual([uid]);
  testbed.kill('main');
  await testbed.until('the container is restarted', () => testbed.running.includes('web-goldennode/main/1'));
});

test('a pod that kcri has removed is not taken over, though its dead containers mount files of it', async () => {
  await using testbed = await DaemonTestbed.start({manifests: {'web.yaml': manifest('web')}});
  await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 1);
  await testbed.remove('web.yaml');
  await testbed.until('the pod is gone', async () => (await testbed.listRemains())['podDirs']?.length === 0);
  await testbed.stop();
  expect(testbed.ownContainers).not.toEqual([]);
  testbed.run();
  await testbed.untilAllRemoved();
  expect(logged(testbed, 'Taking over pod of another kubelet')).toEqual([]);
});

test('a pod directory without a pod in the runtime is removed', async () => {
  await using testbed = await leaveNode();
  const directory = join(testbed.rootDir, 'pods', '0b1c');
  await mkdir(join(directory, 'volumes/kubernetes.io~empty-dir/data'), {recursive: true});
  testbed.run();
  await testbed.untilAllRemoved();
});

test('a kubelet that is killed before its sources have delivered the pods leaves them to the next one', async () => {
  await using testbed = await leaveNode('web');
  const {connection, clock, fake} = testbed;
  const node = {...GOLDEN_NODE, rootDir: testbed.rootDir, podLogsDir: testbed.logsDir};
  const parts = {services: connection, endpoint: fake.endpoint, node, runtimeName: 'fake', clock};
  const local = openPodRegistry(parts, SILENT_OBSERVER);
  const killed = new ManagedPods({
    local,
    logger: fakeLogger({info: () => undefined, error: () => undefined}),
    originOf: () => '',
  });
  await killed.load(new AbortController().signal);
  expect(killed.presentRecords().map(({name}) => name)).toEqual(['web-goldennode']);
  const before = fake.calls.length;
  testbed.run();
  await testbed.until('the pod is known', () => testbed.statusOf('web').ready === 1);
  expect(changesSince(testbed, before)).toEqual([]);
});

test('beside a live kubelet with the root directory, the daemon does not start', async () => {
  await using testbed = await leaveNode('web');
  using kubelet = startFakeKubelet(testbed.rootDir);
  await until(async () => (await findLiveKubelet(testbed.rootDir)) === kubelet.pid);
  const before = testbed.fake.calls.length;
  testbed.run();
  await expect(testbed.ended).rejects.toThrow(
    `a kubelet (PID ${kubelet.pid}) already uses root directory "${testbed.rootDir}"`,
  );
  expect(changesSince(testbed, before)).toEqual([]);
  expect((await testbed.listRemains())['records']).toEqual([]);
  await kubelet.stop();
  testbed.run();
  await testbed.until('the pod is known', () => testbed.statusOf('web').ready === 1);
});

test('a kubelet that comes back while the daemon runs is reported once, and stopping it is left to people', async () => {
  await using testbed = await leaveNode('web');
  testbed.run();
  await testbed.until('the pod is known', () => testbed.statusOf('web').ready === 1);
  const before = testbed.fake.calls.length;
  using kubelet = startFakeKubelet(testbed.rootDir);
  const reports = (): readonly unknown[] => logged(testbed, 'Event occurred').filter(isConflict);
  await testbed.until('it is reported', () => reports().length > 0);
  await testbed.clock.sleep(MINUTE_MS + 1);
  expect(reports()).toMatchObject([{message: expect.stringContaining(`(PID ${kubelet.pid})`) as unknown}]);
  expect(changesSince(testbed, before)).toEqual([]);
});
