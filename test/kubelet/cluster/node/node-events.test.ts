import {describe, expect, test} from 'vitest';
import type {Node, NodeStatus, NodeSystemInfo} from '../../../../src/api/types/v1-node.js';
import {encode} from '../../../../src/cri/codec.js';
import {
  computeConditionEvents,
  computeRebootEvent,
  NodeEvents,
} from '../../../../src/kubelet/cluster/node/node-events.js';
import {computeNodeConditions} from '../../../../src/kubelet/cluster/node/node-status.js';
import type {FakeApiServer} from '../../../fakes/api-server/fake-api-server.js';
import {TEST_TIME_MS} from '../../../fakes/fake-clock.js';
import {ClusterTestbed, NODE_PATH} from '../cluster-testbed.js';

const withErrors = (...errors: readonly string[]): NodeStatus => ({
  conditions: computeNodeConditions({
    ...{errors, pressures: [], previous: {}, now: TEST_TIME_MS},
  }),
});
const READY = withErrors();
const NOT_READY = withErrors('network not ready');
const NO_PRESSURE = ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID'];

const withBootId = (bootID: string): NodeStatus => ({nodeInfo: {bootID} as NodeSystemInfo});

describe('events about conditions', () => {
  const reasons = (before: NodeStatus, after: NodeStatus): readonly string[] =>
    computeConditionEvents('n1', before, after).map(({reason}) => reason);

  test('a new node has an event for each condition, but not for being not ready', () => {
    expect(reasons({}, READY)).toEqual([...NO_PRESSURE, 'NodeReady']);
    expect(reasons({}, NOT_READY)).toEqual(NO_PRESSURE);
  });

  test('a condition has an event if its status changes', () => {
    expect(computeConditionEvents('n1', NOT_READY, READY)).toEqual([
      {type: 'Normal', reason: 'NodeReady', message: 'Node n1 status is now: NodeReady'},
    ]);
    expect(reasons(READY, NOT_READY)).toEqual(['NodeNotReady']);
    expect(reasons(READY, READY)).toEqual([]);
  });

  test('a node that the control plane lost has an event for each condition when it is back', () => {
    const lost = READY.conditions?.map((condition) => ({...condition, status: 'Unknown'}) as const) ?? [];
    expect(reasons({conditions: lost}, READY)).toEqual([...NO_PRESSURE, 'NodeReady']);
  });
});

test('a reboot is another boot ID than the known one', () => {
  expect(computeRebootEvent('n1', withBootId('a'), withBootId('b'))).toEqual({
    ...{type: 'Warning', reason: 'Rebooted'},
    message: 'Node n1 has been rebooted, boot id: b',
  });
  expect(computeRebootEvent('n1', withBootId('a'), withBootId('a'))).toBeUndefined();
  expect(computeRebootEvent('n1', {}, withBootId('b'))).toBeUndefined();
  expect(computeRebootEvent('n1', withBootId('a'), {})).toBeUndefined();
});

test.each([
  [1, ['Starting', 'CgroupV1']],
  [2, ['Starting']],
] as const)('a start on cgroup v%i has the events %j', (version, expected) => {
  const reasons: string[] = [];
  new NodeEvents('n1', ({reason}) => void reasons.push(reason)).started(version);
  expect(reasons).toEqual(expected);
});

test('a reboot is recorded once, also while the old status is still seen', () => {
  const reasons: string[] = [];
  const events = new NodeEvents('n1', ({reason}) => void reasons.push(reason));
  events.reported(withBootId('a'), withBootId('b'));
  events.reported(withBootId('a'), withBootId('b'));
  expect(reasons).toEqual(['Rebooted']);
});

describe('in a cluster', () => {
  const reasons = (testbed: ClusterTestbed): readonly string[] =>
    testbed.events('Node').map(({reason}) => reason);
  const untilReason = async (testbed: ClusterTestbed, reason: string): Promise<void> => {
    await testbed.daemon.until(`the event ${reason} is sent`, () => reasons(testbed).includes(reason));
  };
  const changeNode = (api: FakeApiServer, change: (node: Node) => object): void => {
    const node = api.storage.get(NODE_PATH)!;
    api.storage.put(NODE_PATH, {...node, ...change(node as unknown as Node)});
  };

  test('the start of a kubelet and the state of its node are events', async () => {
    await using testbed = await ClusterTestbed.start();
    await untilReason(testbed, 'NodeReady');
    expect(reasons(testbed)).toEqual(['Starting', 'CgroupV1', ...NO_PRESSURE, 'NodeReady']);
    expect(testbed.events('Node').find(({reason}) => reason === NO_PRESSURE[0])).toMatchObject({count: 3});
    expect(testbed.events('Node')[0]).toMatchObject({
      involvedObject: {apiVersion: 'v1', kind: 'Node', name: 'goldennode', uid: 'goldennode'},
      message: 'Starting kubelet.',
      source: {component: 'kubelet', host: 'goldennode'},
    });
  });

  test('a node that loses its runtime is not ready', async () => {
    await using testbed = await ClusterTestbed.start();
    await untilReason(testbed, 'NodeReady');
    testbed.daemon.fake.injectError('Status', {code: 'UNAVAILABLE', message: 'down'});
    await untilReason(testbed, 'NodeNotReady');
  });

  test('a restart on another boot is a reboot, and a ready node has no event about being ready', async () => {
    await using testbed = await ClusterTestbed.start();
    const {api, daemon} = testbed;
    await untilReason(testbed, 'NodeReady');
    await daemon.stop();
    changeNode(api, ({status}) => ({
      status: {...status, nodeInfo: {...status?.nodeInfo, bootID: 'another'}},
    }));
    const count = testbed.events('Node').length;
    daemon.run();
    await untilReason(testbed, 'Rebooted');
    expect(reasons(testbed).slice(count)).toEqual(['Starting', 'CgroupV1', ...NO_PRESSURE, 'Rebooted']);
  });

  test('a cordoned node is not schedulable until it is uncordoned', async () => {
    await using testbed = await ClusterTestbed.start();
    await untilReason(testbed, 'NodeReady');
    changeNode(testbed.api, ({spec}) => ({spec: {...spec, unschedulable: true}}));
    await untilReason(testbed, 'NodeNotSchedulable');
    changeNode(testbed.api, ({spec}) => ({spec: {...spec, unschedulable: false}}));
    await untilReason(testbed, 'NodeSchedulable');
  });

  test('failures of image garbage collection are events', async () => {
    await using testbed = await ClusterTestbed.start(() => undefined, {imageGc: true});
    const {daemon} = testbed;
    await daemon.stop();
    // The capacity of procfs is 0.
    const imageFilesystems = [{fsId: {mountpoint: '/proc'}}];
    daemon.fake.injectResponse('ImageFsInfo', encode('ImageFsInfoResponse', {imageFilesystems}));
    daemon.run();
    await untilReason(testbed, 'InvalidDiskCapacity');
    expect(testbed.events('Node').find(({reason}) => reason === 'InvalidDiskCapacity')).toMatchObject({
      type: 'Warning',
      message: 'invalid capacity 0 on image filesystem',
    });
  });
});
