import {expect, test} from 'vitest';
import {SystemError} from '../../../../src/base/errors.js';
import {omit} from '../../../../src/base/omit.js';
import type {NodeManager, NodeManagerServices} from '../../../../src/kubelet/contract/node-manager.js';
import {podRef} from '../../../../src/kubelet/contract/pod-ref.js';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {DaemonTestbed} from '../daemon-testbed.js';

const MANIFEST = aManifest({
  name: 'web',
  terminationGracePeriodSeconds: 0,
  containers: [
    aContainerSpec('web', {
      env: [{name: 'GPU', value: 'mine'}],
      args: ['$(GPU_LIB)'],
      resources: {limits: {memory: '64Mi'}},
    }),
  ],
});

/** A manager that gives every container a GPU and CPU 3, and writes down how it is called. */
class TestManager implements NodeManager {
  readonly name = 'test';
  readonly seen: string[] = [];
  services: NodeManagerServices | undefined;

  readonly start: Required<NodeManager>['start'] = async (services) => {
    this.services = services;
    this.seen.push('start');
  };
  readonly admit: Required<NodeManager>['admit'] = async () => {
    const active = this.services?.activePods().map((each) => podRef(each).name) ?? [];
    this.seen.push(`admit with ${active.join()}`);
    return undefined;
  };
  readonly preparePod: Required<NodeManager>['preparePod'] = async () => {
    this.seen.push('prepare');
    return undefined;
  };
  readonly containerOptions: Required<NodeManager>['containerOptions'] = async () => ({
    resources: {cpusetCpus: '3'},
    devices: [{hostPath: '/dev/gpu0', containerPath: '/dev/gpu', permissions: 'rw'}],
    mounts: [{hostPath: '/lib/gpu', containerPath: '/gpu', readonly: true}],
    environment: {GPU: 'theirs', GPU_LIB: '/gpu'},
    annotations: {'example.com/gpu': '0', 'io.kubernetes.container.restartCount': '99'},
    cdiDevices: [{name: 'example.com/gpu=0'}],
  });
  readonly containerCreated: Required<NodeManager>['containerCreated'] = (_pod, {name}) => {
    this.seen.push(`created ${name}`);
  };
  readonly containerRemoved: Required<NodeManager>['containerRemoved'] = () => {
    this.seen.push('removed');
  };
  readonly podStopped: Required<NodeManager>['podStopped'] = async () => {
    this.seen.push('pod stopped');
  };
  /** Moves each running container to CPU 1, once. */
  readonly reconcile: Required<NodeManager>['reconcile'] = {
    periodMs: 10_000,
    run: async (signal) => {
      for (const {id, name} of this.services?.runningContainers() ?? [])
        if (!this.seen.includes(`move ${name}`)) {
          this.seen.push(`move ${name}`);
          await this.services?.updateContainer(id, {cpusetCpus: '1'}, signal);
        }
    },
  };
}

test('what a manager gives arrives in CreateContainer, and the manager hears of the life of the container', async () => {
  const manager = new TestManager();
  await using testbed = await DaemonTestbed.start({nodeManagers: [manager]});
  await testbed.put('web.json', MANIFEST);
  await testbed.until('it is reconciled', () => testbed.fake.callsTo('UpdateContainerResources').length > 0);

  const [request] = testbed.fake.callsTo('CreateContainer').map((call) => call.request);
  const {config} = request as {readonly config: Readonly<Record<string, unknown>>};
  expect(config).toMatchObject({
    args: ['/gpu'],
    devices: [{host_path: '/dev/gpu0', container_path: '/dev/gpu', permissions: 'rw'}],
    CDI_devices: [{name: 'example.com/gpu=0'}],
    annotations: {'example.com/gpu': '0', 'io.kubernetes.container.restartCount': '0'},
    linux: {resources: {cpuset_cpus: '3', memory_limit_in_bytes: '67108864'}},
  });
  const envs = config['envs'] as readonly {readonly key: string}[];
  expect(envs.map(({key}) => key)).toEqual(['GPU', 'GPU_LIB', ...envs.slice(2).map(({key}) => key)]);
  expect((config['mounts'] as readonly object[])[0]).toEqual({
    host_path: '/lib/gpu',
    container_path: '/gpu',
    readonly: true,
  });
  expect(testbed.fake.callsTo('UpdateContainerResources')[0]?.request).toMatchObject({
    linux: {cpuset_cpus: '1'},
  });
  await testbed.remove('web.json');
  await testbed.untilAllRemoved();
  expect(manager.seen).toEqual([
    'start',
    'admit with web-goldennode',
    'prepare',
    'created web',
    'move web',
    'pod stopped',
    'removed',
  ]);
});

test.each([
  [
    'rejects',
    async () => ({reason: 'TopologyAffinityError', message: 'cannot be aligned', hint: 'use another node'}),
    'TopologyAffinityError',
    'cannot be aligned',
  ],
  [
    'fails for',
    async () => {
      throw new SystemError('no healthy devices');
    },
    'UnexpectedAdmissionError',
    'Allocate failed due to no healthy devices, which is unexpected',
  ],
] as const)(
  'a pod that a manager %s has failed, and nothing of it runs',
  async (_title, admit, reason, message) => {
    await using testbed = await DaemonTestbed.start({nodeManagers: [{name: 'test', admit}]});
    await testbed.put('web.json', MANIFEST);
    await testbed.until('it is rejected', () => testbed.events.length > 0);
    expect(testbed.view.pods()).toMatchObject([
      {status: {phase: 'Failed', reason, message: `Pod was rejected: ${message}`}},
    ]);
    expect(testbed.events).toMatchObject([{type: 'Warning', reason, message}]);
    expect(testbed.fake.callsTo('RunPodSandbox')).toEqual([]);
  },
);

test('a pod that a manager cannot prepare waits with an event and without an error, until it can', async () => {
  let problem: {reason: string; message: string} | undefined = {
    reason: 'FailedPrepare',
    message: 'no driver',
  };
  await using testbed = await DaemonTestbed.start({
    nodeManagers: [{name: 'test', preparePod: async () => problem}],
  });
  await testbed.put('web.json', MANIFEST);
  await testbed.until('it waits', () => testbed.events.length > 0);
  expect(testbed.events).toMatchObject([{type: 'Warning', reason: 'FailedPrepare', message: 'no driver'}]);
  expect(testbed.fake.callsTo('RunPodSandbox')).toEqual([]);
  expect(testbed.errors.filter((error) => !error.includes('PLEG'))).toEqual([]);
  problem = undefined;
  await testbed.until('it runs', () => testbed.running.length === 1);
});

test('two managers that contradict each other keep the container from being created', async () => {
  const giving = (name: string, cpusetCpus: string): NodeManager => ({
    name,
    containerOptions: async () => ({resources: {cpusetCpus}}),
  });
  await using testbed = await DaemonTestbed.start({nodeManagers: [giving('cpu', '1'), giving('other', '2')]});
  await testbed.put('web.json', MANIFEST);
  const message =
    'the cpu manager and the other manager of the node both set resource cpusetCpus of container "web"';
  await testbed.until('it fails', () => testbed.events.some((event) => event.message.includes(message)));
  expect(testbed.statusOf('web').phase).toBe('Pending');
  expect(testbed.fake.callsTo('CreateContainer')).toEqual([]);
});

test('a resized container gets the resources of the managers too, but not what only a new one gets', async () => {
  const of = (cpu: string): string =>
    aManifest({
      name: 'web',
      metadata: {uid: 'uid-of-web'},
      containers: [aContainerSpec('web', {resources: {limits: {cpu, memory: '64Mi'}}})],
    });
  const manager = new TestManager();
  await using testbed = await DaemonTestbed.start({
    nodeManagers: [
      {
        name: 'quota',
        resources: () => ({cpuQuota: -1n}),
        podLimits: (_pod, limits) => omit(limits, 'cpuQuota'),
      },
      {name: 'cpu', containerOptions: manager.containerOptions},
    ],
  });
  await testbed.put('web.json', of('100m'));
  await testbed.until('it runs', () => testbed.running.length === 1);
  await testbed.put('web.json', of('200m'));
  await testbed.until('it is resized', () => testbed.fake.callsTo('UpdateContainerResources').length > 0);
  const request = testbed.fake.callsTo('UpdateContainerResources')[0]?.request;
  expect(request).toMatchObject({linux: {cpu_quota: '-1', cpu_shares: '204'}});
  expect(request).not.toHaveProperty('linux.cpuset_cpus');
  const ofPod = testbed.fake.callsTo('UpdatePodSandboxResources').map((call) => call.request);
  expect(ofPod.length).toBeGreaterThan(0);
  for (const each of ofPod) expect(each).not.toHaveProperty('resources.cpu_quota');
  expect(testbed.fake.callsTo('CreateContainer')[0]?.request).toMatchObject({
    config: {linux: {resources: {cpu_quota: '-1', cpuset_cpus: '3'}}},
  });
});

test('a manager that cannot start ends the kubelet, before any pod runs', async () => {
  let starts = 0;
  const start = async (): Promise<void> => {
    starts += 1;
    if (starts === 1) throw new SystemError('start cpu manager error: the state is of another machine');
  };
  await using testbed = await DaemonTestbed.start({
    nodeManagers: [{name: 'cpu', start}],
    manifests: {'web.json': MANIFEST},
  });
  await expect(testbed.ended).rejects.toThrow('the state is of another machine');
  expect(testbed.fake.callsTo('RunPodSandbox')).toEqual([]);
  testbed.run();
  await testbed.until('it runs', () => testbed.running.length === 1);
});
