import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import type {NodeFacts} from '../../../../src/kubelet/contract/node-facts.js';
import type {NodeManager} from '../../../../src/kubelet/contract/node-manager.js';
import type {Machine} from '../../../../src/kubelet/contract/resources/machine.js';
import type {PodResourceProvider} from '../../../../src/kubelet/contract/resources/pod-resource-use.js';
import {
  describeAllocatable,
  describePodResources,
} from '../../../../src/kubelet/managers/pod-resources/describe-pod-resources.js';
import {createNodeManagers} from '../../../../src/kubelet/pods/node-managers/create-node-managers.js';
import {NodeManagerSet} from '../../../../src/kubelet/pods/node-managers/node-manager-set.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';
import {FakeClock} from '../../../fakes/fake-clock.js';
import {fakeManagerServices} from '../../../fakes/fake-manager-services.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {machineOf, ORACLE_MACHINES} from '../../resources/machine/machine-oracle.js';

const MIB = 2n ** 20n;

const machineNamed = (name: string): Machine =>
  machineOf(ORACLE_MACHINES.get(name)?.machineInfo ?? expect.fail());

/** A machine with two CPUs and 4 GiB on one NUMA node, and huge pages that are not there. */
const SMALL: Machine = (({numaNodes, ...machine}) => ({
  ...machine,
  numaNodes: numaNodes.map((node) => ({
    ...node,
    memoryBytes: 4096n * MIB,
    hugePages: [{pageSizeKib: 2048, pages: 0}],
  })),
}))(machineNamed('s1n1c2t1'));

/** A node with the managers of a recording, whose pods are admitted one after the other. */
class RecordedNode {
  readonly #active: Pod[] = [];
  readonly #managers: NodeManagerSet;
  readonly #providers: readonly PodResourceProvider[];

  private constructor(managers: readonly NodeManager[]) {
    this.#managers = new NodeManagerSet(managers);
    this.#providers = managers.flatMap(({podResources}) => podResources ?? []);
  }

  static async start(facts: Partial<NodeFacts>): Promise<RecordedNode> {
    const rootDir = await mkdtemp(join(tmpdir(), 'kcri-use-'));
    onTestFinished(async () => rm(rootDir, {recursive: true}));
    const topologyManager = {policy: 'none', scope: 'container', options: {}};
    const node = {...GOLDEN_NODE, rootDir, topologyManager, ...facts};
    const started = new RecordedNode(createNodeManagers(node));
    const services = fakeManagerServices({
      node,
      clock: new FakeClock(),
      knownPods: () => started.#active,
      activePods: () => started.#active,
    });
    await started.#managers.start(services, new AbortController().signal);
    return started;
  }

  async admit(pod: Pod): Promise<void> {
    this.#active.push(pod);
    expect(await this.#managers.admit('early', pod, new AbortController().signal)).toBeUndefined();
  }

  /** Returns the answers as the recordings have them: without what is empty. */
  get answers(): unknown {
    return plain({
      list: this.#active.map((pod) => describePodResources(pod, this.#providers)),
      allocatable: describeAllocatable(this.#providers),
    });
  }
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== 0n && !(Array.isArray(each) && each.length === 0))
      .map(([key, each]) => [key, plain(each)]),
  );
}

const guaranteed = (name: string, cpu: string, memory = '32Mi') =>
  aContainer({name, resources: {limits: {cpu, memory}, requests: {cpu, memory}}});

const podOf = (name: string, spec: Partial<Pod['spec']>): Pod => aPod(spec, {name, uid: `uid-of-${name}`});

const SHARED = podOf('shared', {containers: [aContainer({name: 'a'})]});

const reserving = (cpuMilli: bigint, memoryBytes = 0n): NodeFacts['reservations'] => ({
  total: {cpuMilli, memoryBytes, ephemeralStorageBytes: 0n, pids: 0n},
  eviction: {memoryBytes: 0n, ephemeralStorageBytes: 0n},
  limitsPods: true,
  cgroups: [],
});

const staticCpus = (reservedSystemCpus = ''): NodeFacts['cpuManager'] => ({
  policy: 'static',
  options: {},
  reconcilePeriodMs: 2000,
  reservedSystemCpus,
  allowsAlphaOptions: false,
  allowsBetaOptions: true,
  managesPodLevel: false,
  dropsQuota: true,
});

test('cpu-static: exclusive CPUs of a container, and all but the reserved ones of the node', async () => {
  const node = await RecordedNode.start({
    machine: () => SMALL,
    cpuManager: staticCpus(),
    reservations: reserving(1000n),
  });
  await node.admit(SHARED);
  const shared = {containers: [{name: 'a'}], name: 'shared', namespace: 'default'};
  expect(node.answers).toEqual({list: [shared], allocatable: {cpuIds: ['1']}});
  await node.admit(podOf('g1', {containers: [guaranteed('a', '1')]}));
  expect(node.answers).toEqual({
    list: [shared, {containers: [{cpuIds: ['1'], name: 'a'}], name: 'g1', namespace: 'default'}],
    allocatable: {cpuIds: ['1']},
  });
});

test('big-cpu-static: without init containers, and without reservedSystemCPUs', async () => {
  const node = await RecordedNode.start({
    machine: () => machineNamed('s2n1c4t2-split'),
    cpuManager: staticCpus('0,8'),
    reservations: reserving(2000n),
  });
  await node.admit(podOf('g1', {containers: [guaranteed('a', '2'), guaranteed('b', '1')]}));
  await node.admit(
    podOf('g2', {initContainers: [guaranteed('i0', '4')], containers: [guaranteed('a', '3')]}),
  );
  await node.admit(SHARED);
  expect(node.answers).toEqual({
    list: [
      {
        containers: [
          {cpuIds: ['1', '9'], name: 'a'},
          {cpuIds: ['2'], name: 'b'},
        ],
        name: 'g1',
        namespace: 'default',
      },
      {containers: [{cpuIds: ['3', '10', '11'], name: 'a'}], name: 'g2', namespace: 'default'},
      {containers: [{name: 'a'}], name: 'shared', namespace: 'default'},
    ],
    allocatable: {cpuIds: ['1', '2', '3', '4', '5', '6', '7', '9', '10', '11', '12', '13', '14', '15']},
  });
});

test('memory-static: blocks of containers, and the allocatable memory of each NUMA node', async () => {
  const node = await RecordedNode.start({
    machine: () => SMALL,
    memoryManager: {
      policy: 'Static',
      reservedMemory: [{numaNode: 0, limits: {memory: '300Mi'}}],
      managesPodLevel: false,
    },
    reservations: reserving(1000n, 300n * MIB),
  });
  await node.admit(podOf('g1', {containers: [guaranteed('a', '100m', '64Mi')]}));
  await node.admit(podOf('be', {containers: [aContainer({name: 'a'})]}));
  const topology = {nodes: [{}]};
  expect(node.answers).toEqual({
    list: [
      {
        containers: [{memory: [{memoryType: 'memory', size: '67108864', topology}], name: 'a'}],
        name: 'g1',
        namespace: 'default',
      },
      {containers: [{name: 'a'}], name: 'be', namespace: 'default'},
    ],
    allocatable: {memory: [{memoryType: 'memory', size: String(3796n * MIB), topology}]},
  });
});

test('without policies nothing is exclusive', async () => {
  const node = await RecordedNode.start({
    machine: () => SMALL,
    cpuManager: {...staticCpus(), policy: 'none'} as NodeFacts['cpuManager'],
    memoryManager: {policy: 'None', reservedMemory: [], managesPodLevel: false},
  });
  await node.admit(podOf('g1', {containers: [guaranteed('a', '1')]}));
  expect(node.answers).toEqual({
    list: [{containers: [{name: 'a'}], name: 'g1', namespace: 'default'}],
    allocatable: {},
  });
});
