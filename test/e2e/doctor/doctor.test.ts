import {chmod, mkdir, rm, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {runKcriProcess} from '../harness/kcri-process.js';
import {aContainer, aManifest, shellCommand} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';
import {temporaryCgroupRoot} from '../harness/temporary-cgroup-root.js';
import {startPrivateRuntime, type TestRuntime} from '../harness/test-runtime.js';

interface Item {
  readonly id: string;
  readonly result: string;
  readonly message: string;
  readonly details: readonly string[];
}

/** Checks whose result does not depend on the machine that runs the tests. */
const OF_RUNTIME = [
  'runtime/reachable',
  'runtime/ready',
  'runtime/default-handler',
  'runtime/cgroup-driver',
  'runtime/containers',
  'network/cni-config',
  'network/cni-plugins',
  'network/netns',
  'leftovers/pod-directories',
  'leftovers/mounts',
  'leftovers/sandboxes',
  'leftovers/shims',
  'security/runtime-socket',
];

describe.each(newestRuntime)('doctor: $name', (which) => {
  let runtime: TestRuntime;

  beforeAll(async () => {
    runtime = await startPrivateRuntime(which);
  });

  afterAll(async () => {
    await runtime.stop();
  });

  const examine = async (...only: readonly string[]) => {
    const {stdout, exitCode} = await runtime.kcri(['doctor', '-o', 'json', '--only', only.join(',')]);
    return {exitCode, items: (JSON.parse(stdout) as {items: Item[]}).items};
  };

  test('a good node is ok, with a pod and without', async () => {
    const good = OF_RUNTIME.map((id) => expect.objectContaining({id, result: 'ok'}) as Item);
    expect(await examine(...OF_RUNTIME)).toEqual({exitCode: 0, items: good});
    const places = ['--pod-logs-dir', join(runtime.rootDir, 'logs'), '--cgroup-root', temporaryCgroupRoot()];
    const input = aManifest('web', {containers: [aContainer('main')]});
    expect(await runtime.kcri(['sync', '-', ...places], {input})).toMatchObject({exitCode: 0});
    onTestFinished(async () => {
      await runtime.output('delete', 'web');
    });
    expect(await examine(...OF_RUNTIME)).toEqual({exitCode: 0, items: good});
  });

  test('all checks end, and their exit code is that of the worst result', async () => {
    const {stdout, stderr, exitCode} = await runtime.kcri(['doctor', '-o', 'json']);
    const {items} = JSON.parse(stdout) as {readonly items: readonly Item[]};
    expect(stderr).toBe('');
    expect(items.length).toBeGreaterThan(40);
    const has = (wanted: string): boolean => items.some(({result}) => result === wanted);
    expect(exitCode).toBe(has('failure') ? 2 : has('warning') ? 1 : 0);
  });

  test('a saved node shows elsewhere what it shows here', async () => {
    const places = ['--pod-logs-dir', join(runtime.rootDir, 'logs'), '--cgroup-root', temporaryCgroupRoot()];
    const env = [{name: 'LOGIN', value: 'Zx9-very-secret'}];
    const command = shellCommand('echo user $LOGIN; echo ready; sleep 3600');
    const input = aManifest('web', {
      terminationGracePeriodSeconds: 1,
      containers: [aContainer('main', {env, command})],
    });
    expect(await runtime.kcri(['sync', '-', ...places], {input})).toMatchObject({exitCode: 0});
    onTestFinished(async () => {
      await runtime.output('delete', 'web');
    });
    await expect.poll(async () => (await runtime.kcri(['logs', 'web'])).stdout).toContain('ready');
    const file = join(runtime.rootDir, 'node.tgz');
    await runtime.kcri(['doctor', '--save', file]);
    const saved = async (...words: readonly string[]): Promise<string> => {
      const {stdout} = await runKcriProcess([...words, '--from', file], {});
      return stdout;
    };
    for (const words of [
      ['ps', '-o', 'json'],
      ['pods', '-o', 'json'],
      ['get', 'pods', '-o', 'name'],
    ])
      expect(await saved(...words)).toBe(await runtime.output(...words));
    const {pid} = (JSON.parse(await runtime.output('inspect', 'web/main')) as {info: {pid: number}}).info;
    expect(await saved('ps', '-o', 'wide')).toContain(` ${pid} `);
    expect(await saved('logs', 'web')).toBe('user ***\nready\n');
    expect(await saved('describe', 'web')).toMatch(/^Status: +Running$/m);
    expect(await saved('get', 'events')).toContain('Started');
  });

  test('a network configuration that is not JSON is found', async () => {
    const path = join(runtime.rootDir, 'runtime/cni/conf/99-broken.conf');
    await writeFile(path, '{"name": ');
    onTestFinished(async () => {
      await rm(path);
    });
    const {exitCode, items} = await examine('network/cni-config');
    expect(exitCode).toBe(2);
    expect(items).toMatchObject([
      {result: 'failure', details: [`${path} is not a network configuration in JSON with plugin types`]},
    ]);
  });

  test('a world-writable socket is found', async () => {
    const socket = runtime.endpoint.replace('unix://', '');
    await chmod(socket, 0o666);
    onTestFinished(async () => {
      await chmod(socket, 0o660);
    });
    expect(await examine('security/runtime-socket')).toMatchObject({
      exitCode: 2,
      items: [{result: 'failure'}],
    });
  });

  test('the directory of a deleted pod is found', async () => {
    const directory = join(runtime.rootDir, 'pods/1b2c3d4e-0000-4000-8000-000000000000');
    await mkdir(directory, {recursive: true});
    await utimes(directory, 0, 0);
    onTestFinished(async () => {
      await rm(directory, {recursive: true});
    });
    const {exitCode, items} = await examine('leftovers/pod-directories');
    expect(exitCode).toBe(1);
    expect(items).toMatchObject([
      {result: 'warning', details: [`${directory}, last changed 1970-01-01T00:00:00.000Z`]},
    ]);
  });
});
