import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {aContainer, aManifest, IMAGE, shellCommand} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

interface FieldChange {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

interface Plan {
  readonly fields?: readonly FieldChange[];
  readonly changes?: readonly {readonly target: string; readonly actions: readonly string[]}[];
  readonly diffs?: readonly {readonly target: string; readonly changes: readonly FieldChange[]}[];
  readonly calls: readonly {readonly method: string}[];
}

describe.each(newestRuntime)('get, describe and plan: $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  /** Syncs a pod. Deletes it at the end of the test and expects that nothing is left. */
  async function synced(name: string, manifest: string, args: readonly string[] = []): Promise<void> {
    await testbed.sync(manifest, args);
    const {uid} = await testbed.pod(name);
    onTestFinished(async () => {
      await testbed.delete(name);
      expect(await testbed.listLeftovers(uid)).toEqual([]);
    });
  }

  const shown = async (...args: readonly string[]): Promise<string> => {
    const {stdout, stderr, exitCode} = await testbed.runtime.kcri(args);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    return stdout;
  };

  async function planned(manifest: string): Promise<Plan> {
    const args = [
      'plan',
      '-',
      '-o',
      'json',
      '--pod-logs-dir',
      testbed.logsDir,
      '--cgroup-root',
      testbed.cgroupRoot,
    ];
    const {stdout, stderr} = await testbed.runtime.kcri(args, {input: manifest});
    expect(stderr).toBe('');
    return (JSON.parse(stdout) as readonly Plan[])[0]!;
  }

  test('get pods, describe and top cover the pods of crictl and of another root directory', async () => {
    const {runtime} = testbed;
    const directory = await temporaryDirectory();
    const config = join(directory, 'sandbox.json');
    const metadata = {name: 'of-crictl', namespace: 'default', uid: 'uid-of-crictl', attempt: 0};
    await writeFile(config, JSON.stringify({metadata, linux: {cgroup_parent: testbed.cgroupRoot}}));
    const container = join(directory, 'container.json');
    const command = ['sh', '-c', 'exit 3'];
    await writeFile(container, JSON.stringify({metadata: {name: 'tool'}, image: {image: IMAGE}, command}));
    const id = (await runtime.kcri(['runp', config])).stdout.trim();
    onTestFinished(async () => {
      await runtime.kcri(['rmp', '-f', id]);
    });
    const created = (await runtime.kcri(['create', id, container, config])).stdout.trim();
    await runtime.kcri(['start', created]);
    await expect
      .poll(() => shown('get', 'pods', id.slice(0, 13), '--no-headers'))
      .toMatch(/^of-crictl +0\/1 +Error +0 +[\dms]+ +<none>\n$/);
    expect(await shown('describe', 'of-crictl')).toMatch(/Manager: +<none>\n.*Exit Code: +3\n/s);
    await synced('of-kcri', aManifest('of-kcri'));
    const elsewhere = ['--root-dir', join(directory, 'elsewhere')];
    expect(await shown('get', 'pods', 'of-kcri', '--no-headers', ...elsewhere)).toMatch(
      /^of-kcri +1\/1 +Running +0 +[\dms]+ +kubelet\n$/,
    );
    expect(await shown('top', '--once', ...elsewhere)).toMatch(/^ {2}main +yes +Running +0 +[\d.]+ +\S+B/m);
  });

  test('a pod that the node does not admit is listed and described', async () => {
    const containers = [aContainer('main', {resources: {requests: {cpu: '1000'}}})];
    expect(await testbed.sync(aManifest('too-big', {containers}))).toMatchObject({exitCode: 1});
    expect(await shown('get', 'pods', 'too-big', '--no-headers')).toMatch(
      /^too-big +0\/1 +OutOfcpu +0 +[\dms]+\n$/,
    );
    expect(await shown('describe', 'too-big')).toMatch(/Reason: +OutOfcpu\n.* {2}Warning {2}OutOfcpu /s);
    expect(await shown('delete', 'too-big')).toBe('pod "default/too-big" deleted\n');
    expect(await shown('get', 'images', '-o', 'name')).toContain(`image/${IMAGE}\n`);
  });

  test('get pods and describe print a running pod', async () => {
    await synced(
      'show-runs',
      aManifest('show-runs', {initContainers: [aContainer('init', {command: shellCommand('true')})]}),
    );
    expect(await shown('get', 'pods', 'show-runs')).toMatch(
      /^NAME {8}READY {3}STATUS {4}RESTARTS {3}AGE\nshow-runs {3}1\/1 {5}Running {3}0 {10}[\dms]+\n$/,
    );
    const {status} = JSON.parse(await shown('get', 'pods', 'show-runs', '-o', 'json')) as {
      status: {podIP: string; containerStatuses: readonly {containerID: string; imageID: string}[]};
    };
    const {containers} = await testbed.pod('show-runs');
    const main = containers.find(({metadata}) => metadata?.name === 'main');
    expect(status.containerStatuses[0]!.containerID).toBe(`containerd://${main!.id}`);
    const text = await shown('describe', 'show-runs');
    expect(text).toMatch(new RegExp(`^IP: +${status.podIP.replaceAll('.', '\\.')}$`, 'm'));
    expect(text).toContain(`    Image ID:      ${status.containerStatuses[0]!.imageID}\n`);
    expect(text).toMatch(
      /^ {2}Normal +Started +[\dms]+( \(x2 over [\dms]+\))? +kubelet +main +Container started$/m,
    );
  });

  test('a crashing container is printed with its last state and restart count', async () => {
    const containers = [
      aContainer('main', {
        command: shellCommand('echo oh no > /dev/termination-log; echo on the way; exit 3'),
      }),
    ];
    await synced('show-crashes', aManifest('show-crashes', {containers, restartPolicy: 'OnFailure'}), [
      // Ends with the status CrashLoopBackOff, never while the container runs.
      '--min-ready',
      '1m',
    ]);
    const {stdout, stderr} = await testbed.runtime.kcri(['get', 'pods', 'show-crashes', '--no-headers']);
    expect(stdout).toMatch(/^show-crashes +0\/1 +NotRestarted +\d+ \([\dms]+ ago\) +[\dms]+\n$/);
    expect(stderr).toMatch(/^kcri: note: pod "default\/show-crashes" is not restarted: no kcri process runs/);
    const text = await shown('describe', 'show-crashes');
    expect(text).toMatch(
      /State: +Waiting\n {6}Reason: +NotRestarted\n {4}Last State: +Terminated\n {6}Reason: +Error\n {6}Message: +oh no\n/,
    );
    expect(text).toMatch(/\n {4}Last Log Lines:\n {6}on the way\n/);
    expect(text).toMatch(
      /Warning +BackOff +.*Back-off restarting failed container main in pod show-crashes_default/,
    );
  });

  test('a plan reports the differences from the existing containers, and no others', async () => {
    const manifest = (image: string, command: readonly string[]) =>
      aManifest(
        'show-plan',
        {containers: [aContainer('main', {image, command}), aContainer('other')]},
        {uid: 'show-plan-uid'},
      );
    await synced('show-plan', manifest(IMAGE, shellCommand('sleep 3600')));
    const plan = await planned(manifest('docker.io/library/busybox:other', shellCommand('sleep 7200')));
    expect(plan.changes).toMatchObject([{target: 'container "main"', actions: ['kill', 'create', 'start']}]);
    expect(plan.calls.map(({method}) => method)).toEqual([
      'StopContainer',
      'PullImage',
      'CreateContainer',
      'StartContainer',
    ]);
    const [diff, ...others] = plan.diffs ?? [];
    expect(others).toEqual([]);
    const paths = diff!.changes.map(({path}) => path).filter((path) => !path.startsWith('image.'));
    expect(paths.toSorted()).toEqual([
      'annotations[io.kubernetes.container.hash]',
      'annotations[io.kubernetes.container.restartCount]',
      'command',
      'log_path',
      'metadata.attempt',
    ]);
    expect(diff!.changes).toContainEqual({
      path: 'command',
      before: ['sh', '-c', 'sleep 3600'],
      after: ['sh', '-c', 'sleep 7200'],
    });
  });

  test('a plan for the same manifest is empty, and one with another hostname reports only that', async () => {
    const manifest = (hostname: string) => aManifest('show-other', {hostname});
    await synced('show-other', manifest('one'));
    expect(await planned(manifest('one'))).toMatchObject({calls: []});
    const {fields, diffs} = await planned(manifest('two'));
    expect(fields).toEqual([{path: 'spec.hostname', before: 'one', after: 'two'}]);
    expect(diffs).toEqual([{target: 'sandbox', changes: [{path: 'hostname', before: 'one', after: 'two'}]}]);
  });
});
