import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {runKcri, type RunOptions, type RunResult} from '../cli/run-kcri.js';
import {
  createTestbed,
  aContainerSpec,
  aManifest,
  aScript,
  onlyRecord,
  type CommandTestbed,
} from './command-testbed.js';
import {runToTimeLimit} from './run-to-time-limit.js';
import {interruptAt, FAST_CLOCK} from './interrupt-watch.js';

async function syncPods(testbed: CommandTestbed, ...manifests: readonly string[]): Promise<void> {
  const {exitCode, stderr} = await testbed.run(['sync', '-'], {stdin: manifests.join('\n---\n')});
  expect({exitCode, stderr}).toMatchObject({exitCode: 0});
  testbed.runtime.clearCalls();
}

/** Runs `get pods` with the testbed's root directory. */
async function get(
  testbed: CommandTestbed,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<RunResult> {
  return await runKcri(['--root-dir', testbed.rootDir, 'get', 'pods', ...args], options);
}

describe('get pods', () => {
  // Proves: get pods
  test("prints kcri's pods in kubectl's table and changes nothing", async () => {
    const testbed = await createTestbed();
    await syncPods(testbed, aManifest(), aManifest({name: 'api-server'}));
    const before = await testbed.listLeftovers();
    const {stdout, stderr, exitCode} = await get(testbed);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(stdout).toMatch(
      /^NAME {9}READY {3}STATUS {4}RESTARTS {3}AGE\napi-server {3}1\/1 {5}Running {3}0 {10}\d+s\nweb {10}1\/1 {5}Running {3}0 {10}\d+s\n$/,
    );
    expect(testbed.mutatingCalls).toEqual([]);
    expect(await testbed.listLeftovers()).toEqual(before);
  });

  // Proves: kcri --root-dir
  test('-o wide adds address, node, readiness gates and the cause', async () => {
    const testbed = await createTestbed();
    await syncPods(testbed, aManifest());
    const {stdout} = await get(testbed, ['-o', 'wide']);
    const [header, row] = stdout.trimEnd().split('\n');
    expect(header).toMatch(/AGE\s+IP\s+NODE\s+NOMINATED NODE {3}READINESS GATES {3}MANAGER {3}WHY$/);
    expect(row).toMatch(
      new RegExp(`${testbed.runtime.sandboxes[0]!.ips[0]!}\\s+\\S+\\s+<none>\\s+<none>\\s+kcri\\s+<none>$`),
    );
  });

  test('-o wide shows why a pod does not run', async () => {
    const testbed = await createTestbed({behaviour: () => ({exitCode: 3})});
    await testbed.run(['sync', '-'], {stdin: aManifest({restartPolicy: 'Never'})});
    const {stdout} = await get(testbed, ['-o', 'wide']);
    expect(stdout).toMatch(/ kcri {6}container main ended by itself with exit code 3\n$/);
  });

  // Proves: get pods --output
  test('-o json prints the Pod with its status, and a List for several pods', async () => {
    const testbed = await createTestbed();
    await syncPods(testbed, aManifest(), aManifest({name: 'other'}));
    const one = JSON.parse((await get(testbed, ['web', '-o', 'json'])).stdout) as Record<string, unknown>;
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
    const all = JSON.parse((await get(testbed, ['-o', 'json'])).stdout) as {kind: string; items: unknown[]};
    expect([all.kind, all.items.length]).toEqual(['List', 2]);
  });

  test('-o yaml, name, jsonpath, go-template and --no-headers', async () => {
    const testbed = await createTestbed();
    await syncPods(testbed, aManifest());
    expect((await get(testbed, ['web', '-o', 'yaml'])).stdout).toMatch(
      /^apiVersion: v1\nkind: Pod\n.*\n {2}phase: Running\n.*[^\n]\n$/s,
    );
    expect((await get(testbed, ['-o', 'name'])).stdout).toBe('pod/web\n');
    expect((await get(testbed, ['-o', 'jsonpath={.items[*].status.phase}'])).stdout).toBe('Running\n');
    expect((await get(testbed, ['web', '-o', 'go-template={{.status.phase}}'])).stdout).toBe('Running\n');
    expect((await get(testbed, ['web', '--template', '{{.metadata.name}}'])).stdout).toBe('web\n');
    expect((await get(testbed, ['--no-headers'])).stdout).toMatch(/^web /);
  });

  test('selects by name, namespace and labels', async () => {
    const testbed = await createTestbed();
    const labelled = (name: string, namespace: string, app: string) =>
      aManifest({name, metadata: {namespace, labels: {app}}});
    await syncPods(testbed, labelled('a', 'one', 'x'), labelled('b', 'two', 'x'), labelled('c', 'two', 'y'));
    const names = async (...args: readonly string[]) =>
      (await get(testbed, [...args, '-o', 'name'])).stdout
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
    expect((await get(testbed)).stdout).toMatch(/^NAMESPACE {3}NAME {3}READY/);
    expect((await get(testbed, ['-n', 'two'])).stdout).toMatch(/^NAME {3}READY/);
  });

  test('reports that there are no pods, and suggests a name', async () => {
    const testbed = await createTestbed();
    expect(await get(testbed)).toEqual({stdout: '', stderr: 'No resources found\n', exitCode: 0});
    expect((await get(testbed, ['-n', 'x'])).stderr).toBe('No resources found in x namespace.\n');
    expect((await get(testbed, ['-o', 'json'])).stdout).toContain('"items": []');
    await syncPods(testbed, aManifest());
    expect(await get(testbed, ['wbe', 'web', '--no-headers'])).toMatchObject({
      stderr: 'kcri: pod "wbe" not found\nhint: did you mean "web"?\n',
      stdout: expect.stringMatching(/^web /) as string,
      exitCode: 1,
    });
  });

  test.each([
    ['-o', 'jsno', 'unsupported output format "jsno"'],
    ['-l', 'a=b=c', 'invalid label selector "a=b=c"'],
    ['-l', 'a in b', 'invalid label selector'],
    ['--sort-by', '{.x', 'unclosed action'],
  ])('rejects %s %s', async (flag, value, text) => {
    const testbed = await createTestbed();
    const {stderr, exitCode} = await get(testbed, [flag, value]);
    expect(stderr).toContain(text);
    expect(exitCode).toBe(1);
  });

  test('prints the waiting reason of a crashed or completed pod', async () => {
    const testbed = await createTestbed();
    const job = aManifest({name: 'job', restartPolicy: 'Never', containers: [aScript('main', 'exit 3')]});
    await syncPods(testbed, aManifest());
    await testbed.run(['sync', '-'], {stdin: job});
    testbed.runtime.exitContainer(testbed.runtime.containers[0]!.id, 1);
    const {stdout} = await get(testbed, ['--no-headers']);
    expect(stdout).toMatch(/^job +0\/1 +Error +0 +\d+s\nweb +0\/1 +Error +0 +\d+s\n$/);
  });

  test('keeps the reason why the last sync could not start a container', async () => {
    const testbed = await createTestbed({images: []});
    const containers = [aContainerSpec('main', {image: 'localhost:5000/missing:1'})];
    await runToTimeLimit(testbed, ['sync', '-'], {
      limitMs: 1000,
      isReached: ({stderr}) => stderr.includes('ErrImagePull'),
      stdin: aManifest({containers}),
    });
    const {stdout} = await get(testbed, ['--no-headers']);
    expect(stdout).toMatch(/^web +0\/1 +(ErrImagePull|ImagePullBackOff) +0 /);
  });

  test('an unavailable runtime is reported, and its pods are printed with their last status', async () => {
    const testbed = await createTestbed();
    await syncPods(testbed, aManifest());
    await testbed.runtime.stop();
    const {stdout, stderr, exitCode} = await get(testbed, ['--no-headers']);
    expect(stdout).toMatch(/^web +1\/1 +Running /);
    expect(stderr).toMatch(
      /^kcri: warning: runtime at "unix:.*" is unavailable: .*; showing the last known state: default\/web \d+s ago\n$/,
    );
    expect(exitCode).toBe(0);
  });

  test('pods of other root directories are those of a kubelet', async () => {
    const testbed = await createTestbed();
    await syncPods(testbed, aManifest());
    const {endpoint} = testbed.runtime;
    const args = ['get', 'pods', '--no-headers', '--root-dir', join(testbed.directory, 'other')];
    expect((await runKcri(args, {endpoint})).stdout).toMatch(/^web +1\/1 +Running +0 +\d+s +kubelet\n$/);
    expect(await runKcri(args)).toMatchObject({stdout: '', stderr: 'No resources found\n'});
  });

  test('an invalid record is reported, and the other pods are printed', async () => {
    const testbed = await createTestbed();
    await syncPods(testbed, aManifest());
    const {writeFile} = await import('node:fs/promises');
    await writeFile(join(testbed.rootDir, 'kcri/records', 'broken.json'), 'x');
    const {stdout, stderr} = await get(testbed, ['-o', 'name']);
    expect(stdout).toBe('pod/web\n');
    expect(stderr).toContain('must be JSON');
  });

  test('the history is removed with the pod', async () => {
    const testbed = await createTestbed();
    await syncPods(testbed, aManifest());
    const uid = String((await onlyRecord(testbed))['uid']);
    const historyFiles = async () => [
      await readdir(join(testbed.rootDir, 'kcri/events')),
      await readdir(join(testbed.rootDir, 'kcri/statuses')),
    ];
    expect(await historyFiles()).toEqual([[`${uid}.json`], [`${uid}.json`]]);
    await testbed.run(['delete', 'web']);
    expect(await historyFiles()).toEqual([[], []]);
  });

  test('a pod being deleted is Terminating', async () => {
    const testbed = await createTestbed({behaviour: () => ({ignoresStop: true})});
    await syncPods(testbed, aManifest({terminationGracePeriodSeconds: 600}));
    const controller = new AbortController();
    const deleting = testbed.run(['delete', 'web'], {signal: controller.signal});
    await expect.poll(() => testbed.runtime.callsTo('StopContainer').length).toBe(1);
    const {stdout} = await get(testbed, ['--no-headers']);
    controller.abort(new Error('enough'));
    await deleting;
    expect(stdout).toMatch(/^web +1\/1 +Terminating +0 /);
  });
});

describe('get pods -w', () => {
  test('prints all pods, and changed pods again, below one header', async () => {
    const testbed = await createTestbed();
    await syncPods(testbed, aManifest(), aManifest({name: 'other'}));
    const {signal, onStdout} = interruptAt(/Error/);
    const watching = get(testbed, ['-w'], {
      signal,
      clock: FAST_CLOCK,
      onStdout: (text: string) => {
        onStdout(text);
        if (text.includes('web'))
          testbed.runtime.exitContainer(
            testbed.runtime.containers.find(({config}) => config.labels['io.kubernetes.pod.name'] === 'web')!
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

  test('-o json prints one Pod per line', async () => {
    const testbed = await createTestbed();
    await syncPods(testbed, aManifest());
    const {signal, onStdout} = interruptAt(/\n/);
    const {stdout} = await get(testbed, ['-w', '-o', 'json'], {signal, clock: FAST_CLOCK, onStdout});
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as {kind: string}).kind),
    ).toEqual(['Pod']);
  });

  test('prints a deleted pod once more as Terminating', async () => {
    const testbed = await createTestbed();
    await syncPods(testbed, aManifest());
    const {signal, onStdout} = interruptAt(/Terminating/);
    let deleting: Promise<unknown> | undefined;
    const {stdout} = await get(testbed, ['-w', '--no-headers'], {
      signal,
      clock: FAST_CLOCK,
      onStdout: (text: string) => {
        onStdout(text);
        deleting ??= testbed.run(['delete', 'web']);
      },
    });
    await deleting;
    expect(stdout).toMatch(/^web .*Running.*\n(web .*\n)*web .*Terminating.*\n/);
  });
});
