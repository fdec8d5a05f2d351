import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {runKcri, type RunOptions, type RunResult} from '../cli/run-kcri.js';
import {aScene, aContainerSpec, aManifest, aScript, onlyRecord, type PodScene} from './pod-scene.js';
import {runToTimeLimit} from './run-to-time-limit.js';
import {interruptAt, FAST_CLOCK} from './interrupt-watch.js';

async function synced(scene: PodScene, ...manifests: readonly string[]): Promise<void> {
  const {exitCode, stderr} = await scene.run(['sync', '-'], {stdin: manifests.join('\n---\n')});
  expect({exitCode, stderr}).toMatchObject({exitCode: 0});
  scene.runtime.clearCalls();
}

/** Runs `get pods` where the scene's directories need no flags. */
async function get(
  scene: PodScene,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<RunResult> {
  return await runKcri(['--root-dir', scene.rootDir, 'get', 'pods', ...args], options);
}

describe('get pods', () => {
  test("shows kcri's pods as kubectl's table does, and changes nothing", async () => {
    const scene = await aScene();
    await synced(scene, aManifest(), aManifest({name: 'api-server'}));
    const before = await scene.listLeftovers();
    const {stdout, stderr, exitCode} = await get(scene);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(stdout).toMatch(
      /^NAME {9}READY {3}STATUS {4}RESTARTS {3}AGE\napi-server {3}1\/1 {5}Running {3}0 {10}\d+s\nweb {10}1\/1 {5}Running {3}0 {10}\d+s\n$/,
    );
    expect(scene.mutatingCalls).toEqual([]);
    expect(await scene.listLeftovers()).toEqual(before);
  });

  test('-o wide adds address, node and readiness gates', async () => {
    const scene = await aScene();
    await synced(scene, aManifest());
    const {stdout} = await get(scene, ['-o', 'wide']);
    const [header, row] = stdout.trimEnd().split('\n');
    expect(header).toMatch(/AGE\s+IP\s+NODE\s+NOMINATED NODE {3}READINESS GATES$/);
    expect(row).toMatch(new RegExp(`${scene.runtime.sandboxes[0]!.ips[0]!}\\s+\\S+\\s+<none>\\s+<none>$`));
  });

  test('-o json of one pod is the Pod with its status, of several a List', async () => {
    const scene = await aScene();
    await synced(scene, aManifest(), aManifest({name: 'other'}));
    const one = JSON.parse((await get(scene, ['web', '-o', 'json'])).stdout) as Record<string, unknown>;
    expect(one).toMatchObject({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'web',
        namespace: 'default',
        creationTimestamp: expect.stringMatching(/:\d\dZ$/) as string,
      },
      status: {phase: 'Running', podIP: expect.any(String) as string, containerStatuses: [{ready: true}]},
    });
    const all = JSON.parse((await get(scene, ['-o', 'json'])).stdout) as {kind: string; items: unknown[]};
    expect([all.kind, all.items.length]).toEqual(['List', 2]);
  });

  test('-o yaml, name, jsonpath, go-template and --no-headers', async () => {
    const scene = await aScene();
    await synced(scene, aManifest());
    expect((await get(scene, ['web', '-o', 'yaml'])).stdout).toMatch(
      /^apiVersion: v1\nkind: Pod\n.*\n {2}phase: Running\n.*[^\n]\n$/s,
    );
    expect((await get(scene, ['-o', 'name'])).stdout).toBe('pod/web\n');
    expect((await get(scene, ['-o', 'jsonpath={.items[*].status.phase}'])).stdout).toBe('Running\n');
    expect((await get(scene, ['web', '-o', 'go-template={{.status.phase}}'])).stdout).toBe('Running\n');
    expect((await get(scene, ['web', '--template', '{{.metadata.name}}'])).stdout).toBe('web\n');
    expect((await get(scene, ['--no-headers'])).stdout).toMatch(/^web /);
  });

  test('chooses by name, namespace and labels', async () => {
    const scene = await aScene();
    const labelled = (name: string, namespace: string, app: string) =>
      aManifest({name, metadata: {namespace, labels: {app}}});
    await synced(scene, labelled('a', 'one', 'x'), labelled('b', 'two', 'x'), labelled('c', 'two', 'y'));
    const names = async (...args: readonly string[]) =>
      (await get(scene, [...args, '-o', 'name'])).stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => line.slice(4));
    expect(await names()).toEqual(['a', 'b', 'c']);
    expect(await names('-n', 'two')).toEqual(['b', 'c']);
    expect(await names('-n', 'two', '-A')).toEqual(['a', 'b', 'c']);
    expect(await names('-l', 'app=x')).toEqual(['a', 'b']);
    expect(await names('-l', 'app notin (x)')).toEqual(['c']);
    expect(await names('two/c', 'a')).toEqual(['c', 'a']);
    expect(await names('--sort-by', '.metadata.labels.app')).toEqual(['a', 'b', 'c']);
    expect((await get(scene)).stdout).toMatch(/^NAMESPACE {3}NAME {3}READY/);
    expect((await get(scene, ['-n', 'two'])).stdout).toMatch(/^NAME {3}READY/);
  });

  test('says when there is nothing, and what a name that is none could have been', async () => {
    const scene = await aScene();
    expect(await get(scene)).toEqual({stdout: '', stderr: 'No resources found\n', exitCode: 0});
    expect((await get(scene, ['-n', 'x'])).stderr).toBe('No resources found in x namespace.\n');
    expect((await get(scene, ['-o', 'json'])).stdout).toContain('"items": []');
    await synced(scene, aManifest());
    expect(await get(scene, ['wbe', 'web', '--no-headers'])).toMatchObject({
      stderr: 'kcri: pod "wbe" not found\nhint: pods created by kcri: default/web\n',
      stdout: expect.stringMatching(/^web /) as string,
      exitCode: 1,
    });
  });

  test.each([
    ['-o', 'jsno', 'unsupported output format "jsno"'],
    ['-l', 'a=b=c', 'invalid label selector "a=b=c"'],
    ['-l', 'a in b', 'invalid label selector'],
    ['--sort-by', '{.x', 'unclosed action'],
  ])('refuses %s %s', async (flag, value, text) => {
    const scene = await aScene();
    const {stderr, exitCode} = await get(scene, [flag, value]);
    expect(stderr).toContain(text);
    expect(exitCode).toBe(1);
  });

  test('shows what a pod that has crashed or ended waits for', async () => {
    const scene = await aScene();
    const job = aManifest({name: 'job', restartPolicy: 'Never', containers: [aScript('main', 'exit 3')]});
    await synced(scene, aManifest());
    await scene.run(['sync', '-'], {stdin: job});
    scene.runtime.exitContainer(scene.runtime.containers[0]!.id, 1);
    const {stdout} = await get(scene, ['--no-headers']);
    expect(stdout).toMatch(/^job +0\/1 +Error +0 +\d+s\nweb +0\/1 +Error +0 +\d+s\n$/);
  });

  test("remembers why the last sync could not start a pod's container", async () => {
    const scene = await aScene({images: []});
    const containers = [aContainerSpec('main', {image: 'localhost:5000/missing:1'})];
    await runToTimeLimit(scene, ['sync', '-'], {
      limitMs: 1000,
      isReached: ({stderr}) => stderr.includes('ErrImagePull'),
      stdin: aManifest({containers}),
    });
    const {stdout} = await get(scene, ['--no-headers']);
    expect(stdout).toMatch(/^web +0\/1 +(ErrImagePull|ImagePullBackOff) +0 /);
  });

  test('a runtime that is down is told, and its pods are shown as they were', async () => {
    const scene = await aScene();
    await synced(scene, aManifest());
    await scene.runtime.stop();
    const {stdout, stderr, exitCode} = await get(scene, ['--no-headers']);
    expect(stdout).toMatch(/^web +1\/1 +Running /);
    expect(stderr).toMatch(
      /^kcri: warning: runtime at "unix:.*" is unavailable: .*; showing the last known state: default\/web \d+s ago\n$/,
    );
    expect(exitCode).toBe(0);
  });

  test('pods of another root directory are not shown', async () => {
    const scene = await aScene();
    await synced(scene, aManifest());
    const {stdout} = await runKcri(['get', 'pods', '--root-dir', join(scene.directory, 'other')]);
    expect(stdout).toBe('');
  });

  test('a record that is broken is told, and hides no other', async () => {
    const scene = await aScene();
    await synced(scene, aManifest());
    const {writeFile} = await import('node:fs/promises');
    await writeFile(join(scene.rootDir, 'records', 'broken.json'), 'x');
    const {stdout, stderr} = await get(scene, ['-o', 'name']);
    expect(stdout).toBe('pod/web\n');
    expect(stderr).toContain('must be JSON');
  });

  test('the history goes with the pod', async () => {
    const scene = await aScene();
    await synced(scene, aManifest());
    const uid = String((await onlyRecord(scene))['uid']);
    const kept = async () => [
      await readdir(join(scene.rootDir, 'events')),
      await readdir(join(scene.rootDir, 'statuses')),
    ];
    expect(await kept()).toEqual([[`${uid}.json`], [`${uid}.json`]]);
    await scene.run(['delete', 'web']);
    expect(await kept()).toEqual([[], []]);
  });

  test('a pod that is being deleted is Terminating', async () => {
    const scene = await aScene({behaviour: () => ({ignoresStop: true})});
    await synced(scene, aManifest({terminationGracePeriodSeconds: 600}));
    const controller = new AbortController();
    const deleting = scene.run(['delete', 'web'], {signal: controller.signal});
    await expect.poll(() => scene.runtime.callsTo('StopContainer').length).toBe(1);
    const {stdout} = await get(scene, ['--no-headers']);
    controller.abort(new Error('enough'));
    await deleting;
    expect(stdout).toMatch(/^web +1\/1 +Terminating +0 /);
  });
});

describe('get pods -w', () => {
  test('shows every pod, and again what has changed, below one header', async () => {
    const scene = await aScene();
    await synced(scene, aManifest(), aManifest({name: 'other'}));
    const {signal, onStdout} = interruptAt(/Error/);
    const watching = get(scene, ['-w'], {
      signal,
      clock: FAST_CLOCK,
      onStdout: (text: string) => {
        onStdout(text);
        if (text.includes('web'))
          scene.runtime.exitContainer(
            scene.runtime.containers.find(({config}) => config.labels['io.kubernetes.pod.name'] === 'web')!
              .id,
            1,
          );
      },
    });
    const {stdout, exitCode} = await watching;
    expect(stdout).toMatch(
      /^NAME {4}READY {3}STATUS {4}RESTARTS {3}AGE\nother {3}1\/1 {5}Running {3}0 {10}\d+s\nweb {5}1\/1 {5}Running {3}0 {10}\d+s\nweb {5}0\/1 {5}Error {5}0 {10}\d+s\n$/,
    );
    expect(exitCode).toBe(0);
  });

  test('-o json is a Pod a line', async () => {
    const scene = await aScene();
    await synced(scene, aManifest());
    const {signal, onStdout} = interruptAt(/\n/);
    const {stdout} = await get(scene, ['-w', '-o', 'json'], {signal, clock: FAST_CLOCK, onStdout});
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as {kind: string}).kind),
    ).toEqual(['Pod']);
  });

  test('a pod that goes is shown once more, Terminating', async () => {
    const scene = await aScene();
    await synced(scene, aManifest());
    const {signal, onStdout} = interruptAt(/Terminating/);
    let deleting: Promise<unknown> | undefined;
    const {stdout} = await get(scene, ['-w', '--no-headers'], {
      signal,
      clock: FAST_CLOCK,
      onStdout: (text: string) => {
        onStdout(text);
        deleting ??= scene.run(['delete', 'web']);
      },
    });
    await deleting;
    expect(stdout).toMatch(/^web .*Running.*\n(web .*\n)*web .*Terminating.*\n/);
  });
});
