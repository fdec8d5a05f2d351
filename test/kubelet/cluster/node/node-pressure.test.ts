import {describe, expect, test} from 'vitest';
import {parseThresholds} from '../../../../src/kubelet/resources/eviction-thresholds.js';
import type {
  EvictionSignal,
  EvictionThreshold,
} from '../../../../src/kubelet/contract/resources/eviction-settings.js';
import type {MeasuredPod} from '../../../../src/kubelet/contract/resources/node-signals.js';
import type {NodeMeasurement} from '../../../../src/kubelet/daemon/create-node-pressure.js';
import {NO_FILES} from '../../../../src/base/fs/file-usage.js';
import {SystemError} from '../../../../src/base/errors.js';
import type {NodeCondition} from '../../../../src/api/types/v1-node.js';
import {podRef} from '../../../../src/kubelet/contract/pod-ref.js';
import {systemClock} from '../../../../src/base/clock.js';
import {KubeletMetricsRegistry} from '../../../../src/kubelet/managers/metrics/kubelet-metrics-registry.js';
import {parseExposition} from '../../managers/metrics/parse-exposition.js';
import {BUSYBOX} from '../../../fakes/runtime-builders.js';
import {ClusterTestbed, NODE_PATH} from '../cluster-testbed.js';

const DEFAULTS = parseThresholds({
  ...{
    'memory.available': '100',
    'nodefs.available': '100',
    'imagefs.available': '100',
    'pid.available': '100',
  },
});
const IMAGE_DISK = {dedicatedImageFs: true, splitContainerFs: false};

/** A node with 1000 of everything, of which a test sets what is available. */
class SimulatedNode {
  readonly available = new Map<EvictionSignal, number>();
  /** Memory that each pod uses, by name. */
  readonly memory: Record<string, number> = {};
  isBroken = false;
  reads = 0;
  memoryReads = 0;
  /** Called before each observation. */
  onRead = (): void => undefined;

  /** Makes the node report memory between the observations, as with kernelMemcgNotification. */
  notifying(): NodeMeasurement {
    const measurement = this.measurement();
    const readMemory: NodeMeasurement['readMemory'] = () => {
      this.memoryReads += 1;
      if (this.isBroken) throw new SystemError('no answer');
      const available = BigInt(this.available.get('memory.available') ?? 500);
      return new Map([['memory.available', {available, capacity: 1000n}]]);
    };
    return {...measurement, readMemory};
  }

  measurement(settings: Partial<NodeMeasurement['settings']> = {}): NodeMeasurement {
    return {
      settings: {thresholds: DEFAULTS, pressureTransitionMs: 60_000, maxPodGraceSeconds: 0, ...settings},
      readSignals: async () => {
        this.reads += 1;
        this.onRead();
        if (this.isBroken) throw new SystemError('no answer');
        const observed = (signal: EvictionSignal) => ({
          available: BigInt(this.available.get(signal) ?? 500),
          capacity: 1000n,
        });
        return {
          observations: new Map(DEFAULTS.map(({signal}) => [signal, observed(signal)])),
          layout: IMAGE_DISK,
        };
      },
      readUsages: async (pods) =>
        new Map(
          pods.map((pod) => {
            const memoryBytes = BigInt(this.memory[podRef(pod).name] ?? 0);
            const usage: MeasuredPod = {memoryBytes, processes: 1n, containers: [], volumes: NO_FILES};
            return [podRef(pod).uid, usage];
          }),
        ),
    };
  }
}

function condition(testbed: ClusterTestbed, type: string): NodeCondition | undefined {
  const status = testbed.api.storage.get(NODE_PATH)?.['status'] as
    | {readonly conditions?: readonly NodeCondition[]}
    | undefined;
  return status?.conditions?.find((each) => each.type === type);
}

async function untilCondition(testbed: ClusterTestbed, type: string, status: string): Promise<void> {
  await testbed.daemon.until(`${type} is ${status}`, () => condition(testbed, type)?.status === status);
}

test('pods are evicted one after the other, until the node has enough, and the condition says so', async () => {
  const node = new SimulatedNode();
  Object.assign(node.memory, {first: 30, second: 20, third: 10});
  const registry = new KubeletMetricsRegistry(systemClock, 'node');
  const options = {eviction: node.measurement(), metrics: registry};
  await using testbed = await ClusterTestbed.start(undefined, options);
  for (const name of ['third', 'first', 'second']) testbed.createPod(name);
  for (const name of ['third', 'first', 'second']) await testbed.untilPhase(name, 'Running');
  expect(condition(testbed, 'MemoryPressure')?.status).toBe('False');

  node.available.set('memory.available', 50);
  await testbed.untilPhase('first', 'Failed');
  const message = 'The node was low on resource: memory. Threshold quantity: 100, available: 50. ';
  expect(testbed.status('first')).toMatchObject({
    reason: 'Evicted',
    message,
    conditions: expect.arrayContaining([
      expect.objectContaining({type: 'DisruptionTarget', reason: 'TerminationByKubelet', message}),
    ]) as unknown,
  });
  await testbed.untilPhase('second', 'Failed');
  node.available.set('memory.available', 500);
  await untilCondition(testbed, 'MemoryPressure', 'True');
  expect(condition(testbed, 'MemoryPressure')).toMatchObject({
    reason: 'KubeletHasInsufficientMemory',
    message: 'kubelet has insufficient memory available',
  });
  expect(testbed.status('third').phase).toBe('Running');
  const ages = parseExposition(await registry.metricsText([])).find(
    ({name}) => name === 'kubelet_eviction_stats_age_seconds_count',
  );
  expect(ages).toMatchObject({labels: {eviction_signal: 'memory.available'}, value: 2});

  await untilCondition(testbed, 'MemoryPressure', 'False');
  const reasons = testbed.events('Node').map(({reason}) => reason);
  expect(reasons).toEqual(
    expect.arrayContaining([
      ...['EvictionThresholdMet', 'NodeHasInsufficientMemory', 'NodeHasSufficientMemory'],
    ]),
  );
  const evictions = testbed.events('Pod').filter(({reason}) => reason === 'Evicted');
  expect(evictions.map(({involvedObject}) => involvedObject.name)).toEqual(['first', 'second']);
  expect(evictions[0]?.metadata.annotations).toEqual({
    ...{offending_containers: '', offending_containers_usage: '', starved_resource: 'memory'},
  });
});

test('with a notification, pods are evicted before the next observation is due', async () => {
  const node = new SimulatedNode();
  Object.assign(node.memory, {first: 30});
  await using testbed = await ClusterTestbed.start(undefined, {eviction: node.notifying()});
  const {clock} = testbed.daemon;
  testbed.createPod('first');
  await testbed.untilPhase('first', 'Running');
  const untilObserved = async (): Promise<void> => {
    const {reads} = node;
    await testbed.daemon.until('the node is observed', () => node.reads > reads);
  };
  await untilObserved();
  const {memoryReads} = node;
  const startedAt = clock.now();
  node.available.set('memory.available', 50);
  await untilObserved();
  expect(clock.now() - startedAt).toBeLessThan(9000);
  expect(node.memoryReads).toBeGreaterThan(memoryReads);
  await testbed.untilPhase('first', 'Failed');

  node.isBroken = true;
  await testbed.daemon.until('it fails', () =>
    testbed.daemon.errors.join('\n').includes('failed to synchronize: no answer'),
  );
});

describe('a node under pressure rejects', () => {
  const start = async (signal: EvictionSignal, type: string): Promise<ClusterTestbed> => {
    const node = new SimulatedNode();
    node.available.set(signal, 0);
    const testbed = await ClusterTestbed.start(undefined, {eviction: node.measurement()});
    await untilCondition(testbed, type, 'True');
    return testbed;
  };

  test('all pods but critical ones if it lacks disk space', async () => {
    await using testbed = await start('nodefs.available', 'DiskPressure');
    testbed.createPod('plain', {tolerations: [{operator: 'Exists'}]});
    testbed.createPod('critical', {priority: 2_000_000_000});
    await testbed.untilPhase('plain', 'Failed');
    expect(testbed.status('plain')).toMatchObject({
      reason: 'Evicted',
      message: 'Pod was rejected: The node had condition: [DiskPressure]. ',
    });
    await testbed.untilPhase('critical', 'Running');
  });

  test('pods without requests if it lacks only memory, unless they tolerate that', async () => {
    await using testbed = await start('memory.available', 'MemoryPressure');
    testbed.createPod('plain');
    await testbed.untilPhase('plain', 'Failed');
    expect(testbed.status('plain').message).toContain('The node had condition: [MemoryPressure]. ');
    const resources = {requests: {cpu: '1m'}};
    testbed.createPod('with-requests', {containers: [{name: 'main', image: BUSYBOX, resources}]});
    testbed.createPod('tolerant', {
      tolerations: [{key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule'}],
    });
    const isAdmitted = (name: string): boolean =>
      testbed
        .events('Pod')
        .some(({reason, involvedObject}) => reason !== 'Evicted' && involvedObject.name === name);
    await testbed.daemon.until(
      'the others are admitted',
      () => isAdmitted('with-requests') && isAdmitted('tolerant'),
    );
  });
});

test('a critical pod is not evicted, and a node that cannot be observed evicts nothing', async () => {
  const node = new SimulatedNode();
  await using testbed = await ClusterTestbed.start(undefined, {eviction: node.measurement()});
  testbed.createPod('critical', {priority: 2_000_000_000});
  testbed.createPod('plain');
  await testbed.untilPhase('critical', 'Running');
  await testbed.untilPhase('plain', 'Running');
  node.available.set('pid.available', 0);
  node.isBroken = true;
  const {reads} = node;
  await testbed.daemon.until('the node was observed twice', () => node.reads > reads + 2);
  expect(testbed.status('plain').phase).toBe('Running');
  node.isBroken = false;
  await testbed.untilPhase('plain', 'Failed');
  await untilCondition(testbed, 'PIDPressure', 'True');
  const readsAfter = node.reads;
  await testbed.daemon.until('the node was observed again', () => node.reads > readsAfter + 3);
  expect(testbed.status('critical').phase).toBe('Running');
});

test('a soft threshold evicts after its grace period, with the grace period of the configuration', async () => {
  const node = new SimulatedNode();
  const [memory] = parseThresholds({'memory.available': '100'});
  const soft: EvictionThreshold = {...memory!, gracePeriodMs: 60_000};
  const settings = {thresholds: [soft], maxPodGraceSeconds: 7};
  await using testbed = await ClusterTestbed.start(undefined, {eviction: node.measurement(settings)});
  testbed.createPod('plain');
  await testbed.untilPhase('plain', 'Running');
  node.available.set('memory.available', 50);
  await untilCondition(testbed, 'MemoryPressure', 'True');
  const since = testbed.daemon.clock.now();
  await testbed.untilPhase('plain', 'Failed');
  expect(testbed.daemon.clock.now() - since).toBeGreaterThan(40_000);
  const [stop] = testbed.daemon.fake.callsTo('StopContainer');
  expect(stop?.request).toMatchObject({timeout: '7'});
});

test('the filesystem of containers has a grace period of its own', async () => {
  const node = new SimulatedNode();
  const [nodefs] = parseThresholds({'nodefs.available': '100'});
  const settings = {thresholds: [{...nodefs!, gracePeriodMs: 60_000}]};
  const observations = new Map([['containerfs.available', {available: 50n, capacity: 1000n}]] as const);
  const layout = {dedicatedImageFs: true, splitContainerFs: true};
  const readSignals = async () => Promise.resolve({observations, layout});
  const eviction = {...node.measurement(settings), readSignals};
  await using testbed = await ClusterTestbed.start(undefined, {eviction});
  testbed.createPod('critical', {priority: 2_000_000_000});
  await untilCondition(testbed, 'DiskPressure', 'True');
  const reclaims = () => testbed.events('Node').filter(({reason}) => reason === 'EvictionThresholdMet');
  expect(reclaims()).toEqual([]);
  await testbed.daemon.until('space is reclaimed', () => reclaims().length > 0);
});

test('unused containers and images are removed before pods are evicted', async () => {
  const node = new SimulatedNode();
  await using testbed = await ClusterTestbed.start(undefined, {eviction: node.measurement(), imageGc: true});
  testbed.createPod('done', {restartPolicy: 'Never', containers: [{name: 'job', image: BUSYBOX}]});
  testbed.createPod('runs');
  await testbed.untilPhase('runs', 'Running');
  await testbed.untilPhase('done', 'Running');
  testbed.daemon.kill('job', 0);
  await testbed.untilPhase('done', 'Succeeded');
  const removed = () => testbed.daemon.fake.callsTo('RemoveContainer').length;
  expect(removed()).toBe(0);
  node.onRead = () => void node.available.set('imagefs.available', removed() === 0 ? 50 : 500);
  await untilCondition(testbed, 'DiskPressure', 'True');
  await untilCondition(testbed, 'DiskPressure', 'False');
  expect(testbed.daemon.log.map(({message}) => message)).toContain('Attempting to delete unused images');
  expect(testbed.status('runs').phase).toBe('Running');
});
