import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {NodeFacts} from '../../../../src/kubelet/contract/node-facts.js';
import type {Machine} from '../../../../src/kubelet/contract/resources/machine.js';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {DaemonTestbed} from '../daemon-testbed.js';

const GIB = 2n ** 30n;

/** A machine of two NUMA nodes with 8 GiB each. */
const MACHINE: Machine = {
  cpuCount: 8,
  physicalCoreCount: 4,
  socketCount: 2,
  memoryBytes: 16n * GIB,
  swapBytes: 0n,
  hugePages: [],
  numaNodes: [0, 1].map((id) => ({
    id,
    memoryBytes: 8n * GIB,
    hugePages: [],
    distances: id === 0 ? [10, 21] : [21, 10],
    caches: [],
    cores: [0, 1].map((core) => ({
      id: core,
      socket: id,
      threads: [id * 4 + core * 2, id * 4 + core * 2 + 1],
      caches: [],
      uncoreCaches: [],
    })),
  })),
};

const nodeWith = (policy: string): Partial<NodeFacts> => ({
  machine: () => MACHINE,
  cpuMilli: 8000n,
  memoryBytes: 16n * GIB,
  reservations: {
    total: {cpuMilli: 0n, memoryBytes: GIB, ephemeralStorageBytes: 0n, pids: 0n},
    eviction: {memoryBytes: 0n, ephemeralStorageBytes: 0n},
    limitsPods: false,
    cgroups: [],
  },
  memoryManager: {
    policy: 'Static',
    reservedMemory: [{numaNode: 0, limits: {memory: '1Gi'}}],
    managesPodLevel: false,
  },
  topologyManager: {policy, scope: 'container', options: {}},
});

const guaranteed = (name: string, memory: string): string => {
  const amounts = {cpu: '500m', memory};
  return aManifest({
    name,
    terminationGracePeriodSeconds: 0,
    containers: [aContainerSpec(name, {resources: {requests: amounts, limits: amounts}})],
  });
};

/** Returns the NUMA nodes of the containers that were created, by name. */
function memsOf({fake}: DaemonTestbed): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    fake.callsTo('CreateContainer').map(({request}) => {
      const {config} = request as {
        config: {metadata: {name: string}; linux: {resources: {cpuset_mems?: string}}};
      };
      return [config.metadata.name, config.linux.resources.cpuset_mems];
    }),
  );
}

const stateOf = async ({rootDir}: DaemonTestbed): Promise<unknown> =>
  JSON.parse(await readFile(join(rootDir, 'memory_manager_state'), 'utf8'));

test('pods get memory of one NUMA node each, until none has enough', async () => {
  await using testbed = await DaemonTestbed.start({
    node: nodeWith('single-numa-node'),
    manifests: {'a.json': guaranteed('a', '6Gi')},
  });
  await testbed.until('a runs', () => testbed.running.length === 1);
  await testbed.put('b.json', guaranteed('b', '6Gi'));
  await testbed.until('b runs', () => testbed.running.length === 2);
  expect(memsOf(testbed)).toEqual({a: '0', b: '1'});

  await testbed.put('c.json', guaranteed('c', '6Gi'));
  const rejected = (): boolean => testbed.events.some(({pod}) => pod.metadata.name === 'c-goldennode');
  await testbed.until('c is rejected', rejected);
  expect(testbed.events.find(({pod}) => pod.metadata.name === 'c-goldennode')).toMatchObject({
    type: 'Warning',
    reason: 'UnexpectedAdmissionError',
    message:
      'Allocate failed due to [memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available, which is unexpected',
  });

  await testbed.stop();
  testbed.run();
  await testbed.until('they still run', () => testbed.running.length === 2);
  await testbed.remove('a.json');
  await testbed.until('a is gone', () => testbed.running.length === 1);
  await testbed.put('d.json', guaranteed('d', '7Gi'));
  await testbed.until('d runs', () => testbed.running.length === 2);
  expect(memsOf(testbed)).toEqual({a: '0', b: '1', d: '0'});
  expect(await stateOf(testbed)).toMatchObject({
    policyName: 'Static',
    machineState: {0: {memoryMap: {memory: {free: 0}}}, 1: {memoryMap: {memory: {free: Number(2n * GIB)}}}},
  });
});

test('a pod that needs NUMA nodes of which others have memory is rejected', async () => {
  await using testbed = await DaemonTestbed.start({
    node: nodeWith('restricted'),
    manifests: {'a.json': guaranteed('a', '4Gi'), 'b.json': guaranteed('b', '5Gi')},
  });
  await testbed.until('both run', () => testbed.running.length === 2);
  await testbed.put('c.json', guaranteed('c', '12Gi'));
  await testbed.until('c is rejected', () =>
    testbed.events.some(({pod}) => pod.metadata.name === 'c-goldennode'),
  );
  expect(testbed.events.find(({pod}) => pod.metadata.name === 'c-goldennode')).toMatchObject({
    reason: 'UnexpectedAdmissionError',
  });
  expect(Object.keys(memsOf(testbed)).toSorted()).toEqual(['a', 'b']);
});

test('a kubelet does not start on another machine than that of its state', async () => {
  let machine = MACHINE;
  await using testbed = await DaemonTestbed.start({
    node: {...nodeWith('none'), machine: () => machine},
    manifests: {'a.json': guaranteed('a', '6Gi')},
  });
  await testbed.until('a runs', () => testbed.running.length === 1);
  await testbed.stop();
  machine = {...MACHINE, numaNodes: MACHINE.numaNodes.map((node) => ({...node, memoryBytes: 9n * GIB}))};
  testbed.run();
  await expect(testbed.ended).rejects.toThrow(
    'start memory manager error: [memorymanager] the expected machine state is different from the real one',
  );
  machine = MACHINE;
  testbed.run();
  await testbed.until('a still runs', () => testbed.running.length === 1);
});
