import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {runKcri, type RunResult} from '../../cli/run-kcri.js';
import {BUSYBOX} from '../../fakes/runtime-builders.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';
import type {Node} from '../../../src/api/types/v1-node.js';
import type {StoredObject} from '../../fakes/api-server/object-storage.js';
import {ClusterTestbed, NODE_PATH} from '../../kubelet/cluster/cluster-testbed.js';
import {isMutatingCall} from '../command-testbed.js';

const NAMESPACE_FILE = {path: 'namespace', fieldRef: {fieldPath: 'metadata.namespace'}};

interface Plan {
  readonly pod: string;
  readonly note: string;
  readonly calls: readonly {readonly method: string; readonly why: {readonly text: string}}[];
}

/** Starts a node with running pods, whose kubelet has then stopped. */
async function aNode(...names: readonly string[]): Promise<ClusterTestbed> {
  const testbed = await ClusterTestbed.start();
  onTestFinished(async () => testbed[Symbol.asyncDispose]());
  for (const name of names) testbed.createPod(name);
  for (const name of names) await testbed.untilPhase(name, 'Running');
  await testbed.daemon.stop();
  return testbed;
}

async function plan({api, daemon}: ClusterTestbed, ...args: readonly string[]): Promise<RunResult> {
  const file = join(daemon.directory, 'kubeconfig');
  await writeFile(
    file,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'node',
      clusters: [{name: 'fake', cluster: {server: api.url}}],
      users: [{name: 'node', user: {}}],
      contexts: [{name: 'node', context: {cluster: 'fake', user: 'node'}}],
    }),
  );
  const flags = ['--kubeconfig', file, '--hostname-override', GOLDEN_NODE.nodeName];
  const logs = ['--pod-logs-dir', daemon.logsDir];
  return await runKcri(['--root-dir', daemon.rootDir, 'plan', ...flags, ...logs, ...args], {
    endpoint: daemon.fake.endpoint,
    clock: daemon.clock,
  });
}

async function plansOf(testbed: ClusterTestbed, ...args: readonly string[]): Promise<readonly Plan[]> {
  const {stdout, stderr, exitCode} = await plan(testbed, '--explain', '-o', 'json', ...args);
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  return JSON.parse(stdout) as readonly Plan[];
}

const summary = ({pod, note, calls}: Plan): unknown => [pod, note, calls.map(({method}) => method)];

// Proves: plan --kubeconfig
test('plans what the API server has for the node, and what it no longer has', async () => {
  const testbed = await aNode('deleted', 'kept', 'removed');
  const {api, daemon} = testbed;
  api.deletePod('deleted');
  api.storage.delete(`/api/v1/namespaces/default/pods/removed`);
  const before = daemon.fake.calls.length;
  testbed.createPod('added');
  api.createPod({
    metadata: {name: 'ended'},
    spec: {nodeName: GOLDEN_NODE.nodeName, containers: [{name: 'main', image: BUSYBOX}]},
    status: {phase: 'Succeeded'},
  });

  const plans = await plansOf(testbed);

  expect(plans.map(summary)).toEqual([
    ['added', 'the pod is new to the node', ['RunPodSandbox', 'CreateContainer', 'StartContainer']],
    [
      'deleted',
      'the pod is being deleted',
      ['StopContainer', 'StopPodSandbox', 'RemoveContainer', 'StopPodSandbox', 'RemovePodSandbox'],
    ],
    ['ended', 'the pod has ended with the phase Succeeded', []],
    ['kept', 'the node manages the pod', []],
    [
      'removed',
      'the API server no longer has the pod',
      ['StopContainer', 'StopPodSandbox', 'RemoveContainer', 'StopPodSandbox', 'RemovePodSandbox'],
    ],
  ]);
  expect(plans[4]?.calls[0]?.why.text).toBe('the API server no longer has the pod');
  const calls = daemon.fake.calls.slice(before);
  expect(calls.map(({method}) => method).filter(isMutatingCall)).toEqual([]);
});

test('a note says that the devices of ResourceClaims are not planned', async () => {
  const testbed = await aNode();
  testbed.createPod('claims', {resourceClaims: [{name: 'gpu', resourceClaimName: 'gpu'}]});
  const {stdout, stderr} = await plan(testbed);
  expect({stdout, stderr}).toMatchObject({
    stdout: expect.stringContaining(
      'the pod is new to the node; the CDI devices of its ResourceClaims are not planned: their drivers choose them',
    ) as string,
  });
});

test('the device of a block volume is planned', async () => {
  const testbed = await aNode();
  const at = (path: string): string => `/api/v1/${path}`;
  testbed.api.create(at('namespaces/default/persistentvolumeclaims/raw'), {
    metadata: {name: 'raw', namespace: 'default', uid: 'claim'},
    ...{spec: {volumeName: 'raw'}, status: {phase: 'Bound'}},
  });
  testbed.api.create(at('persistentvolumes/raw'), {
    metadata: {name: 'raw'},
    spec: {volumeMode: 'Block', claimRef: {uid: 'claim'}, local: {path: '/dev/sdx'}},
  });
  testbed.createPod('block', {
    volumes: [{name: 'raw', persistentVolumeClaim: {claimName: 'raw'}}],
    containers: [{name: 'main', image: BUSYBOX, volumeDevices: [{name: 'raw', devicePath: '/dev/raw'}]}],
  });
  const {stdout, exitCode} = await plan(testbed, '-o', 'json');
  expect(exitCode).toBe(0);
  expect(stdout).toContain('"container_path": "/dev/raw"');
  expect(stdout).toMatch(/"host_path": "[^"]*\/volumeDevices\/kubernetes\.io~local-volume\/raw"/);
});

test('a pod that is rejected or cannot start is reported, and the others are planned', async () => {
  const testbed = await aNode();
  const {daemon} = testbed;
  testbed.createPod('elsewhere', {nodeSelector: {disk: 'ssd'}});
  testbed.createPod('incomplete', {
    containers: [{name: 'main', image: BUSYBOX, envFrom: [{configMapRef: {name: 'settings'}}]}],
  });
  testbed.createPod('unsupported', {volumes: [{name: 'old', flocker: {datasetName: 'old'}}]});
  testbed.createPod('fine');

  const {stdout, stderr, exitCode} = await plan(testbed);

  expect(stdout).toMatch(
    /^1 pod: 1 to create; 3 CRI calls\n\npod default\/fine \(uid .*\): create\n {2}the pod is new to the node\n {2}1\. RunPodSandbox/,
  );
  expect(stdout.match(/^pod /gm)).toHaveLength(1);
  expect(stderr).toContain('default/elsewhere": NodeAffinity: Pod was rejected: ');
  expect(stderr).toContain('default/incomplete"');
  expect(stderr).toContain('configmap "settings" not found');
  expect(stderr).toContain('default/unsupported": PodFeatureUnsupported: ');
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(exitCode).toBe(1);
  expect(daemon.fake.calls.map(({method}) => method).filter(isMutatingCall)).toEqual([]);
});

test('Secrets are masked, and no token is requested', async () => {
  const testbed = await aNode();
  const {api} = testbed;
  api.create('/api/v1/namespaces/default/secrets/login', {
    apiVersion: 'v1',
    kind: 'Secret',
    data: {password: Buffer.from('hunter22').toString('base64')},
  });
  const token = {serviceAccountToken: {path: 'token', expirationSeconds: 3600}};
  testbed.createPod('reader', {
    volumes: [{name: 'access', projected: {sources: [token]}}],
    containers: [
      {
        ...{name: 'main', image: BUSYBOX},
        env: [{name: 'PASSWORD', valueFrom: {secretKeyRef: {name: 'login', key: 'password'}}}],
        volumeMounts: [{name: 'access', mountPath: '/access'}],
      },
    ],
  });

  const before = api.requests.length;
  const {stdout, stderr, exitCode} = await plan(testbed);

  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  expect(stdout).toContain('<password of the Secret login>');
  expect(stdout).not.toContain('hunter22');
  expect(stdout).toContain('/token with mode 0644');
  const planned = api.requests.slice(before);
  expect([...new Set(planned.map(({method}) => method))]).toEqual(['GET']);
});

test('a running pod with a token has nothing to do', async () => {
  const testbed = await ClusterTestbed.start();
  onTestFinished(async () => testbed[Symbol.asyncDispose]());
  const sources = [{serviceAccountToken: {path: 'token'}}, {downwardAPI: {items: [NAMESPACE_FILE]}}];
  testbed.createPod('web', {
    volumes: [{name: 'access', projected: {sources}}],
    containers: [{name: 'main', image: BUSYBOX, volumeMounts: [{name: 'access', mountPath: '/access'}]}],
  });
  await testbed.untilPhase('web', 'Running');
  await testbed.daemon.stop();
  const {stdout} = await plan(testbed);
  expect(stdout).toMatch(
    /^1 pod: 1 unchanged; 0 CRI calls\n\npod default\/web \(uid .*\): nothing to do\n {2}the node manages the pod\n$/,
  );
  // The volume is a mount, which the kubelet removes.
  testbed.daemon.run();
  testbed.api.deletePod('web');
  await testbed.untilDeleted('web');
});

test('names select pods; mirror pods are left to the manifests of their static pods', async () => {
  const testbed = await aNode();
  testbed.createPod('one');
  testbed.createPod('two');
  testbed.createPod('static', {}, {annotations: {'kubernetes.io/config.mirror': 'x'}});
  const names = async (...args: readonly string[]): Promise<readonly string[]> =>
    (await plansOf(testbed, ...args)).map(({pod}) => pod);
  expect(await names()).toEqual(['one', 'two']);
  expect(await names('default/two')).toEqual(['two']);
  const missing = await plan(testbed, 'two', 'three');
  expect(missing.stdout).toContain('pod default/two');
  expect(missing.stderr).toContain('kcri: pod "three" not found on the node "goldennode"\nhint: http://');
  expect(missing.exitCode).toBe(1);
});

test('a node under pressure would reject a new pod', async () => {
  const testbed = await aNode('known');
  const node = testbed.api.storage.get(NODE_PATH) as Node & StoredObject;
  const conditions = node.status?.conditions?.map((condition) =>
    condition.type === 'DiskPressure' ? {...condition, status: 'True'} : condition,
  );
  testbed.api.storage.put(NODE_PATH, {...node, status: {...node.status, conditions}});
  testbed.createPod('new');
  const {stderr, exitCode} = await plan(testbed);
  expect(stderr).toContain('The node had condition: [DiskPressure].');
  expect(exitCode).toBe(1);
});

test.each([
  [['--offline'], '--offline and --kubeconfig are mutually exclusive'],
  [['--replicas', '2'], '--replicas and --kubeconfig are mutually exclusive'],
  [['--kubeconfig='], '--kubeconfig must not be empty'],
  [['--kubeconfig=/nonexistent'], '"/nonexistent": no such file or directory'],
])('%j is rejected', async (args, message) => {
  const {stdout, stderr, exitCode} = await runKcri(['plan', '--kubeconfig=/nonexistent', ...args]);
  expect(stderr).toContain(message);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
});

test.each<[string, (testbed: ClusterTestbed) => Promise<void> | void, string, string]>([
  ['refuses connections', async ({api}) => api.refuse(), 'connection refused', 'hint: check "server" in '],
  [
    'forbids the request',
    ({api}) => {
      api.inject(() => true, {code: 403, reason: 'Forbidden', message: 'pods is forbidden'});
    },
    'pods is forbidden',
    "hint: use the kubeconfig of this node's kubelet",
  ],
])('an API server that %s is reported', async (_, prepare, message, hint) => {
  const testbed = await aNode();
  await prepare(testbed);
  const {stdout, stderr, exitCode} = await plan(testbed);
  expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  expect(stderr).toMatch(/^kcri: reading the pods of this node from http:/);
  expect(stderr).toContain(message);
  expect(stderr).toContain(hint);
  expect(stderr).not.toMatch(/^\s+at /m);
});
