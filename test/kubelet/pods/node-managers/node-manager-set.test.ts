import {describe, expect, test} from 'vitest';
import {SystemError} from '../../../../src/base/errors.js';
import {containerId} from '../../../../src/cri/index.js';
import type {
  ContainerOptions,
  NodeManager,
  TopologyHintProvider,
} from '../../../../src/kubelet/contract/node-manager.js';
import type {Rejection} from '../../../../src/kubelet/contract/pod-rejection.js';
import {createNodeManagers} from '../../../../src/kubelet/pods/node-managers/create-node-managers.js';
import {NodeManagerSet} from '../../../../src/kubelet/pods/node-managers/node-manager-set.js';
import {fakeLogger} from '../../../base/fake-logger.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';
import {fakeManagerServices} from '../../../fakes/fake-manager-services.js';
import {AutoAdvance, FakeClock} from '../../../fakes/fake-clock.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';

const signal = new AbortController().signal;
const pod = aPod();
const container = aContainer();
const request = {pod, container, node: GOLDEN_NODE};
const REJECTION: Rejection = {reason: 'NoRoom', message: 'no room', hint: 'make room'};

const giving = (name: string, options: ContainerOptions): NodeManager => ({
  name,
  containerOptions: async () => options,
});

test('the managers of a node forbid swap, and allocate claims in plans', () => {
  expect(createNodeManagers(GOLDEN_NODE).map(({name}) => name)).toEqual(['dra', 'swap']);
});

describe('admission', () => {
  test('asks the managers in order until the first rejection', async () => {
    const asked: string[] = [];
    const admitting = (name: string, rejection?: Rejection): NodeManager => ({
      name,
      admit: async () => (asked.push(name), rejection),
    });
    const set = new NodeManagerSet([
      {name: 'none'},
      {...admitting('last'), admitsLast: true},
      admitting('cpu'),
      admitting('memory', REJECTION),
      admitting('devices', {...REJECTION, reason: 'Other'}),
    ]);
    expect(await set.admit('early', pod, signal)).toEqual(REJECTION);
    expect(asked).toEqual(['cpu', 'memory']);
    expect(await set.admit('last', pod, signal)).toBeUndefined();
    expect(asked).toEqual(['cpu', 'memory', 'last']);
  });

  const failing = (error: Error): NodeManagerSet =>
    new NodeManagerSet([
      {
        name: 'devices',
        admit: async () => {
          throw error;
        },
      },
    ]);

  test('turns an error into the rejection of a kubelet', async () => {
    expect(await failing(new SystemError('no plugin')).admit('early', pod, signal)).toMatchObject({
      reason: 'UnexpectedAdmissionError',
      message: 'Allocate failed due to no plugin, which is unexpected',
    });
  });

  test('does not hide a bug', async () => {
    await expect(failing(new TypeError('x is undefined')).admit('early', pod, signal)).rejects.toThrow(
      'x is undefined',
    );
  });
});

describe('what a container gets', () => {
  test('without managers is nothing', async () => {
    expect(await new NodeManagerSet([]).containerOptions(request, signal)).toEqual({
      resources: {},
      devices: [],
      mounts: [],
      environment: {},
      annotations: {},
      cdiDevices: [],
    });
  });

  test('is the sum of what all managers give, in their order', async () => {
    const gpu = {hostPath: '/dev/gpu0', containerPath: '/dev/gpu0', permissions: 'rw'};
    const lib = {hostPath: '/lib/gpu', containerPath: '/usr/lib/gpu'};
    const set = new NodeManagerSet([
      {name: 'swap', resources: () => ({unified: {'memory.swap.max': '0'}})},
      giving('cpu', {resources: {cpusetCpus: '2-3', cpuQuota: -1n}}),
      giving('memory', {resources: {cpusetMems: '0', unified: {'memory.min': '1'}}}),
      giving('devices', {devices: [gpu], mounts: [lib], environment: {GPU: '0'}, annotations: {gpu: '0'}}),
      giving('dra', {cdiDevices: [{name: 'v.com/c=d'}], environment: {CLAIM: 'a'}}),
    ]);
    expect(await set.containerOptions(request, signal)).toEqual({
      resources: {
        cpusetCpus: '2-3',
        cpuQuota: -1n,
        cpusetMems: '0',
        unified: {'memory.swap.max': '0', 'memory.min': '1'},
      },
      devices: [gpu],
      mounts: [lib],
      environment: {GPU: '0', CLAIM: 'a'},
      annotations: {gpu: '0'},
      cdiDevices: [{name: 'v.com/c=d'}],
    });
    expect(set.resources(request)).toEqual({unified: {'memory.swap.max': '0'}});
  });

  const DEVICE = {containerPath: '/dev/a', hostPath: '/dev/x', permissions: 'r'};
  const MOUNT = {containerPath: '/m', hostPath: '/x'};
  test.each<[string, ContainerOptions, ContainerOptions]>([
    ['resource cpusetCpus', {resources: {cpusetCpus: '1'}}, {resources: {cpusetCpus: '2'}}],
    [
      'cgroup file memory.low',
      {resources: {unified: {'memory.low': '1'}}},
      {resources: {unified: {'memory.low': '2'}}},
    ],
    ['device /dev/a', {devices: [DEVICE]}, {devices: [{...DEVICE, hostPath: '/dev/y'}]}],
    ['mount /m', {mounts: [MOUNT]}, {mounts: [{...MOUNT, readonly: true}]}],
    ['variable V', {environment: {V: '1'}}, {environment: {V: '2'}}],
    ['annotation a', {annotations: {a: '1'}}, {annotations: {a: '2'}}],
  ])(
    'is an error that names both managers if they contradict each other about %s',
    async (what, one, other) => {
      const set = new NodeManagerSet([giving('cpu', one), giving('idle', {}), giving('gpu', other)]);
      await expect(set.containerOptions(request, signal)).rejects.toMatchObject({
        code: 'CREATE_CONTAINER_CONFIG',
        message: `the cpu manager and the gpu manager of the node both set ${what} of container "main"`,
      });
      const same = new NodeManagerSet([giving('cpu', one), giving('gpu', one)]);
      await expect(same.containerOptions(request, signal)).resolves.toBeDefined();
    },
  );

  test('is also an error if resources and creation contradict each other', async () => {
    const set = new NodeManagerSet([
      {name: 'cfs', resources: () => ({cpuQuota: 1n})},
      giving('cpu', {resources: {cpuQuota: -1n}}),
    ]);
    await expect(set.containerOptions(request, signal)).rejects.toThrow(
      'the cfs manager and the cpu manager of the node both set resource cpuQuota',
    );
  });
});

test('the managers start in order, with the topology of all, and one that fails ends the start', async () => {
  const started: string[] = [];
  const topology: TopologyHintProvider = {
    podHints: () => new Map(),
    containerHints: () => new Map([['cpu', [{numaNodes: 1n, preferred: true}]]]),
    allocate: async () => undefined,
  };
  const starting = (name: string): NodeManager => ({
    name,
    start: async (given) => void started.push(`${name} ${given.topology.length}`),
  });
  const failing = {
    name: 'memory',
    start: async (): Promise<void> => {
      throw new SystemError('the state is of another machine');
    },
  };
  const services = fakeManagerServices({node: GOLDEN_NODE, clock: new FakeClock()});
  const set = new NodeManagerSet([
    starting('topology'),
    {...starting('cpu'), topology},
    failing,
    starting('gpu'),
  ]);
  await expect(set.start(services, signal)).rejects.toThrow('the state is of another machine');
  expect(started).toEqual(['topology 1', 'cpu 1']);
});

test('a manager reconciles at once and then with its period, also after an error, until the end', async () => {
  const clock = new FakeClock();
  const errors: unknown[] = [];
  const end = new AbortController();
  const at: number[] = [];
  const set = new NodeManagerSet([
    {name: 'idle'},
    {
      name: 'cpu',
      reconcile: {
        periodMs: 10_000,
        run: async () => {
          at.push(clock.now());
          if (at.length === 3) end.abort();
          if (at.length === 1) throw new SystemError('the runtime is away');
        },
      },
    },
  ]);
  const logger = fakeLogger({
    info: () => undefined,
    error: (_error, message, fields) => void errors.push([message, fields]),
  });
  const begin = clock.now();
  using _advances = new AutoAdvance(clock);
  await set.run({clock, logger}, end.signal);
  expect(at.map((time) => time - begin)).toEqual([0, 10_000, 20_000]);
  expect(errors).toEqual([['Failed to reconcile the state of a node manager', {manager: 'cpu'}]]);
});

test('containers, stopped pods and explanations reach all managers', async () => {
  const seen: string[] = [];
  const set = new NodeManagerSet(
    ['a', 'b'].map((name) => ({
      name,
      containerCreated: (_pod, {name: created}, id) => void seen.push(`${name} created ${created} ${id}`),
      containerRemoved: (id) => void seen.push(`${name} removed ${id}`),
      podStopped: async ({metadata}) => void seen.push(`${name} stopped ${metadata.name}`),
      explain: () => (name === 'a' ? undefined : 'exclusive CPUs 2-3'),
    })),
  );
  await set.containerCreated(pod, container, containerId('c1'));
  set.containerRemoved(containerId('c1'));
  await set.podStopped(pod);
  expect(seen).toEqual([
    'a created main c1',
    'b created main c1',
    'a removed c1',
    'b removed c1',
    'a stopped web',
    'b stopped web',
  ]);
  expect(set.explain(pod, container)).toEqual([{manager: 'b', text: 'exclusive CPUs 2-3'}]);
});
