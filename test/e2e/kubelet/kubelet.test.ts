import {mkdir, readFile, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {kubeletConfigFor, putManifest} from '../harness/kubelet-testbed.js';
import {runPod, type RunningPod} from '../harness/run-pod.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import type {KcriProcess} from '../harness/kcri-process.js';
import {runtimes} from '../harness/runtimes-under-test.js';

const NODE = 'kubelet-node';
const NAME = `kubelet-web-${NODE}`;

const manifest = (name: string, marker: string): string => `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  hostNetwork: true
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: docker.io/library/busybox:1.36
    command: [sh, -c, 'echo ${marker}; sleep 3600']
`;

describe.each(runtimes)('kcri kubelet: $name', (which) => {
  let testbed: PodTestbed;
  let foreign: RunningPod;
  let directory: string;
  let daemon: KcriProcess;

  const start = async (): Promise<KcriProcess> => {
    const config = join(testbed.runtime.rootDir, 'kubelet.yaml');
    await writeFile(
      config,
      `${kubeletConfigFor(testbed, directory)}enableServer: false\nhealthzPort: 0\nreadOnlyPort: 0\n`,
    );
    const flags = ['--config', config, '--hostname-override', NODE, '--v=2', '--no-admission'];
    const started = testbed.runtime.start(['kubelet', ...flags]);
    await started.waitForOutput(/ sync-loop\.ts:\d+\] "Starting kubelet main sync loop"/);
    return started;
  };

  /** Returns the running container of the newest pod of that name. */
  const running = async (name = NAME): Promise<{id: string; uid: string; attempt: number} | undefined> => {
    const pod = await testbed.find(name);
    const found = pod?.containers.find(({state}) => state === 'CONTAINER_RUNNING');
    if (pod === undefined || found === undefined) return undefined;
    return {id: found.id, uid: pod.uid, attempt: found.metadata?.attempt ?? 0};
  };
  const runs = async (name = NAME): Promise<{id: string; uid: string; attempt: number}> => {
    await until(async () => (await running(name)) !== undefined);
    return (await running(name)) ?? {id: '', uid: '', attempt: -1};
  };

  /** Returns everything that is left of a pod, except the daemon's own lock. */
  const leftovers = async (uid: string): Promise<readonly string[]> =>
    (await testbed.listLeftovers(uid)).filter((path) => !path.endsWith('/__kubelet.lock'));

  beforeAll(async () => {
    testbed = await startPodTestbed(which);
    foreign = await runPod(testbed.runtime.connection, {name: 'kubelet-foreign'});
    directory = join(testbed.runtime.rootDir, 'manifests');
    await mkdir(directory);
    daemon = await start();
  });
  afterAll(async () => {
    daemon.kill('SIGKILL');
    await daemon.exited;
    await testbed.delete(NAME);
    await testbed[Symbol.asyncDispose]();
  });

  test('runs the pod of an added manifest, and reports an invalid one with its line', async () => {
    await putManifest(join(directory, 'bad.yaml'), 'apiVersion: v1\nkind: Pod\nmetadata: {name: 7}\n');
    await putManifest(join(directory, 'web.yaml'), manifest('kubelet-web', 'first'));
    await runs();
    await daemon.waitForOutput(/bad\.yaml:3:18/);
    expect(await readFile(join(testbed.runtime.rootDir, 'kcri/kubelet.json'), 'utf8')).toContain(
      `"endpoint": "${testbed.runtime.endpoint}"`,
    );
  });

  test('restarts a killed container', async () => {
    const {id, uid} = await runs();
    const {containers} = await testbed.pod(NAME);
    process.kill(await testbed.pidOf(containers[0]?.id as never), 'SIGKILL');
    await until(async () => ((await running())?.id ?? id) !== id);
    expect(await running()).toMatchObject({uid, attempt: 1});
  });

  test('keeps its pods from being changed by other kcri commands', async () => {
    const deleted = await testbed.delete(NAME);
    expect(deleted.exitCode).toBe(1);
    expect(deleted.stderr).toMatch(
      /pod "default\/kubelet-web-kubelet-node": kcri kubelet \(PID \d+\) manages it/,
    );
    expect(deleted.stderr).toContain(`change or remove its manifest "${join(directory, 'web.yaml')}"`);
    const synced = await testbed.sync(manifest(NAME, 'of sync'));
    expect(synced.exitCode).toBe(1);
    expect(synced.stderr).toMatch(/kcri kubelet \(PID \d+\) manages it/);
    expect(await running()).toMatchObject({attempt: 1});
  });

  test.each(['SIGTERM', 'SIGKILL'] as const)(
    'leaves pods running at %s, and takes them over',
    async (signal) => {
      const before = await runs();
      daemon.kill(signal);
      expect((await daemon.exited).exitCode).toBe(signal === 'SIGTERM' ? 0 : undefined);
      expect(await running()).toEqual(before);
      daemon = await start();
      await daemon.waitForOutput(/"SyncLoop ADD".*kubelet-web/);
      expect(await running()).toEqual(before);
    },
  );

  test('replaces the pod of an edited manifest, and starts none that kcri sync runs', async () => {
    const before = await runs();
    expect(before.attempt).toBe(1);
    await putManifest(join(directory, 'web.yaml'), manifest('kubelet-web', 'second'));
    await until(async () => ![before.uid, undefined].includes((await running())?.uid));
    await until(async () => (await leftovers(before.uid)).length === 0);

    const name = `kubelet-taken-${NODE}`;
    expect((await testbed.sync(manifest(name, 'of sync'))).exitCode).toBe(0);
    const taken = await runs(name);
    await putManifest(join(directory, 'taken.yaml'), manifest('kubelet-taken', 'of the kubelet'));
    await daemon.waitForOutput(
      /"Error syncing pod, skipping" err="cannot start pod \\"default\/kubelet-taken-kubelet-node\\": pod .* of \\"kcri sync\\" already exists/,
    );
    expect(await running(name)).toEqual(taken);
    await rm(join(directory, 'taken.yaml'));
    expect((await testbed.delete(name)).exitCode).toBe(0);
  });

  test('continues the restart count of a pod whose manifest is restored soon', async () => {
    const {uid} = await runs();
    const text = await readFile(join(directory, 'web.yaml'), 'utf8');
    await rm(join(directory, 'web.yaml'));
    const record = join(testbed.runtime.rootDir, 'kcri/records', `${uid}.json`);
    await until(async () => (await readFile(record, 'utf8')).includes('"removedAt"'));
    expect((await testbed.runtime.kcri(['get', 'pods'])).stdout).not.toContain(NAME);
    await putManifest(join(directory, 'web.yaml'), text);
    // As with a kubelet, the dead container may or may not be removed yet, depending on when its exit was observed.
    expect(await runs()).toMatchObject({uid});
    expect((await testbed.find(NAME))?.sandboxes[0]?.metadata?.attempt).toBe(1);
  });

  test('terminates the pod of a removed manifest, and changes no other pods', async () => {
    const {uid} = await runs();
    await rm(join(directory, 'web.yaml'));
    await until(async () => (await testbed.find(NAME)) === undefined);
    await until(async () => (await leftovers(uid)).length === 0);
    expect((await testbed.statusOf(foreign.containerId)).state).toBe('CONTAINER_RUNNING');
    daemon.kill('SIGTERM');
    const {stderr} = await daemon.exited;
    expect(stderr.match(/bad\.yaml/g)).not.toBeNull();
    expect(stderr.match(/Could not process manifest file/g)).toHaveLength(1);
  });
});
