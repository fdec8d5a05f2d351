import {describe, expect, test} from 'vitest';
import type {Pod} from '../../src/api/types/v1-pod.js';
import {runKcri, type RunOptions} from '../cli/run-kcri.js';
import {aContainer, aSandbox, BUILT_AT_NANOS, type FakeRuntimeOptions} from '../fakes/fake-runtime.js';
import {FAST_CLOCK, interruptAt} from './interrupt-watch.js';
import {aContainerSpec, aManifest, createTestbed, type CommandTestbed} from './command-testbed.js';

const SECOND = 1_000_000_000n;
const EXITED = {state: 'CONTAINER_EXITED'} as const;

/** Returns pods of a kubelet and of crictl, as a runtime on a Kubernetes node has them. */
function otherPods(): Pick<FakeRuntimeOptions, 'sandboxes' | 'containers'> {
  const dns = aSandbox({name: 'coredns', namespace: 'kube-system', uid: 'uid-of-dns', labels: {app: 'dns'}});
  const labelled = aSandbox({id: 'f00d'.padEnd(64, '0'), name: 'plain', uid: 'uid-of-plain'});
  const plain = {...labelled, config: {...labelled.config, labels: {}}};
  return {
    sandboxes: [dns, plain],
    containers: [
      aContainer({sandbox: dns, name: 'setup', ...EXITED}),
      aContainer({
        sandbox: dns,
        name: 'server',
        createdAt: BUILT_AT_NANOS + 3n * SECOND,
        ...EXITED,
        exitCode: 2,
      }),
      aContainer({
        sandbox: dns,
        name: 'server',
        attempt: 1,
        createdAt: BUILT_AT_NANOS + 9n * SECOND,
        annotations: {
          'io.kubernetes.container.restartCount': '1',
          'io.kubernetes.container.ports': '[{"name":"dns","containerPort":53,"protocol":"UDP"}]',
        },
      }),
      aContainer({sandbox: plain, name: 'tool', ...EXITED, exitCode: 3, createdAt: BUILT_AT_NANOS + 1n}),
    ],
  };
}

async function createMixedTestbed(): Promise<CommandTestbed> {
  const testbed = await createTestbed(otherPods());
  expect(await testbed.run(['sync', '-'], {stdin: aManifest()})).toMatchObject({exitCode: 0});
  testbed.runtime.clearCalls();
  return testbed;
}

async function run(testbed: CommandTestbed, args: readonly string[], options: RunOptions = {}) {
  const {endpoint} = testbed.runtime;
  return await runKcri(['--root-dir', testbed.rootDir, ...args], {endpoint, ...options});
}

/** Returns the cells of a table. */
function cells(table: string): readonly (readonly string[])[] {
  return table
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd().split(/ {2,}/));
}

describe('get pods', () => {
  test('lists the pods of kcri, a kubelet and crictl with their managers, and changes nothing', async () => {
    const testbed = await createMixedTestbed();
    const {stdout, stderr, exitCode} = await run(testbed, ['get', 'pods']);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(cells(stdout).map((row) => row.filter((_, column) => column !== 5))).toEqual([
      ['NAMESPACE', 'NAME', 'READY', 'STATUS', 'RESTARTS', 'MANAGER'],
      ['default', 'plain', '0/1', 'Error', '0', '<none>'],
      ['default', 'web', '1/1', 'Running', '0', 'kcri'],
      ['kube-system', 'coredns', '1/1', 'Running', expect.stringMatching(/^1 \(\S+ ago\)$/), 'kubelet'],
    ]);
    expect(testbed.mutatingCalls).toEqual([]);
  });

  // Proves: get pods --manager
  test.each([
    ['kcri', ['pod/web']],
    ['kubelet', ['pod/coredns']],
    ['none', ['pod/plain']],
  ])('--manager %s selects its pods', async (manager, names) => {
    const testbed = await createMixedTestbed();
    const {stdout} = await run(testbed, ['get', 'pods', '-o', 'name', '--manager', manager]);
    expect(stdout.trimEnd().split('\n')).toEqual(names);
    if (manager === 'kcri') expect(testbed.runtime.callsTo('ListContainers').length).toBe(1);
  });

  test('an unknown manager is an error', async () => {
    const testbed = await createTestbed();
    const {stderr, exitCode} = await run(testbed, ['get', 'pods', '--manager', 'crictl']);
    expect(stderr).toContain('kcri: invalid --manager "crictl"\nhint: use one of kcri, kubelet, none\n');
    expect(exitCode).toBe(1);
  });

  test('-o json prints what the runtime knows of a pod', async () => {
    const testbed = await createMixedTestbed();
    const {stdout} = await run(testbed, ['get', 'pods', 'coredns', '-o', 'json']);
    const pod = JSON.parse(stdout) as Pod;
    expect(pod).toMatchObject({
      metadata: {
        namespace: 'kube-system',
        uid: 'uid-of-dns',
        labels: {app: 'dns'},
        annotations: {'kcri/manager': 'kubelet', 'kcri/partial': 'true'},
      },
      spec: {
        initContainers: [{name: 'setup'}],
        containers: [{name: 'server', ports: [{name: 'dns', containerPort: 53, protocol: 'UDP'}]}],
      },
      status: {
        phase: 'Running',
        podIP: '10.244.0.2',
        containerStatuses: [{ready: true, restartCount: 1, lastState: {terminated: {exitCode: 2}}}],
      },
    });
    expect(Object.keys(pod.metadata.labels ?? {})).toEqual(['app']);
    expect(pod.status).not.toHaveProperty('qosClass');
    expect(pod.status).not.toHaveProperty('conditions');
  });

  test.each([['f00d'], ['uid-of-plain'], ['default/plain'], ['plain']])('accepts %s', async (word) => {
    const testbed = await createMixedTestbed();
    expect((await run(testbed, ['get', 'pods', word, '-o', 'name'])).stdout).toBe('pod/plain\n');
  });

  test.each([
    ['tool', '"tool" is a container, not a pod\nhint: use its pod "default/plain"'],
    ['corednss', 'pod "corednss" not found\nhint: did you mean "coredns"?'],
    ['nothing-like-it', 'pod "nothing-like-it" not found\nhint: run "kcri get pods" to list pods'],
  ])('explains that %s is not a pod', async (word, message) => {
    const testbed = await createMixedTestbed();
    const {stderr, exitCode} = await run(testbed, ['get', 'pods', word]);
    expect({stderr, exitCode}).toEqual({stderr: `kcri: ${message}\n`, exitCode: 1});
  });

  test('says that it could not read the runtime', async () => {
    const testbed = await createTestbed();
    await testbed.runtime.stop();
    const {stdout, stderr, exitCode} = await run(testbed, ['get', 'pods']);
    expect(stderr).toMatch(
      /^kcri: warning: pods that kcri did not create are not shown: .*\nNo resources found\n$/,
    );
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 0});
  });

  test('an unavailable runtime is reported once', async () => {
    const testbed = await createMixedTestbed();
    await testbed.runtime.stop();
    const {stdout, stderr} = await run(testbed, ['get', 'pods', '-o', 'name']);
    expect(stdout).toBe('pod/web\n');
    expect(stderr).toMatch(/^kcri: warning: runtime at .* showing the last known state: .*\n$/);
  });
});

describe('describe', () => {
  test("shows the containers of a kubelet's pod, and nothing that the runtime does not know", async () => {
    const testbed = await createMixedTestbed();
    const {stdout, stderr} = await run(testbed, ['describe', 'coredns']);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^Name: +coredns\nNamespace: +kube-system\nManager: +kubelet\n/);
    expect(stdout).toMatch(/\nLabels: +app=dns\nAnnotations: +<none>\n/);
    expect(stdout).toMatch(/\n {4}Port: +53\/UDP \(dns\)\n/);
    expect(stdout).toMatch(/\n {4}Last State: +Terminated\n {6}Reason: +Error\n {6}Exit Code: +2\n/);
    expect(stdout).toMatch(/\nEvents: +<not stored by kcri>\n$/);
    expect(stdout).not.toMatch(/Environment|Mounts|Volumes|QoS|Tolerations|Conditions/);
  });

  test('-o yaml of a pod of crictl prints its status', async () => {
    const testbed = await createMixedTestbed();
    const {stdout} = await run(testbed, ['describe', 'f00d', '-o', 'jsonpath={.status.phase}']);
    expect(stdout).toBe('Running\n');
  });
});

// Proves: describe node
test('describe node lists the pods of all managers', async () => {
  const testbed = await createMixedTestbed();
  expect((await run(testbed, ['describe', 'node'])).stdout).toMatch(/kube-system +coredns/);
});

describe('get events', () => {
  test('says whose events are not stored', async () => {
    const testbed = await createMixedTestbed();
    const {stdout, stderr} = await run(testbed, ['get', 'events']);
    expect(stdout).toMatch(/pod\/web +main +Container started/);
    expect(stdout).not.toMatch(/coredns|plain/);
    expect(stderr).toBe(
      'kcri: 2 pods not created by kcri: kcri does not store their events; "kcri get events -w" lists new ones\n',
    );
    expect((await run(testbed, ['get', 'events', '--manager=kcri'])).stderr).toBe('');
  });

  // Proves: get events --manager
  test('-w lists what happens to containers of other pods', async () => {
    const testbed = await createMixedTestbed();
    const {signal, onStdout} = interruptAt(/Stopped/);
    const watching = run(testbed, ['get', 'events', '-w', '--manager=kubelet', '-o', 'wide'], {
      signal,
      clock: FAST_CLOCK,
      onStdout,
    });
    const server = testbed.runtime.containers.find(({state}) => state === 'CONTAINER_RUNNING')!;
    // The first sample of the watch, with which others are compared, is one of the first two lists.
    await expect.poll(() => testbed.runtime.callsTo('ListContainers').length).toBeGreaterThan(6);
    testbed.runtime.exitContainer(server.id, 1);
    expect((await watching).stdout).toMatch(
      /Normal +Stopped +pod\/coredns +spec.containers\{server\} +runtime +Container server stopped/,
    );
  });
});

describe('top', () => {
  test('covers the pods of all managers', async () => {
    const testbed = await createMixedTestbed();
    const {stdout, stderr} = await run(testbed, ['top', '--once']);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^POD +READY +STATE +RESTARTS +CPU % +MEM +AGE +MANAGER +PROBES *\n/);
    expect(stdout).toMatch(/^default\/plain +0\/1 +Error .*<none>/m);
    expect(stdout).toMatch(/^kube-system\/coredns +1\/1 +Running .*kubelet/m);
    expect(stdout).toMatch(/^ {2}server +yes +Running +1 +[\d.]+ +\S/m);
  });
});

test('pods that kcri has deleted, but whose containers remain, are not listed as those of others', async () => {
  const testbed = await createTestbed();
  const stdin = aManifest({containers: [aContainerSpec('main')]});
  await testbed.run(['sync', '-'], {stdin});
  await testbed.run(['delete', 'web']);
  expect((await run(testbed, ['get', 'pods'])).stdout).toBe('');
});
