import {join} from 'node:path';
import {expect, test} from 'vitest';
import {connectKubelet, type KubeletProto} from '../../../fakes/plugins/kubelet-protos.js';
import {DeviceTestbed, RESOURCE} from './device-testbed.js';

const connectTo = ({daemon}: DeviceTestbed, proto: KubeletProto, version: string) =>
  connectKubelet(join(daemon.rootDir, 'pod-resources/kubelet.sock'), proto, `${version}.PodResourcesLister`);

test('the pod resources API shows the devices of pods and of the node', async () => {
  await using testbed = await DeviceTestbed.start();
  await using _plugin = await testbed.plug({
    devices: [
      {id: 'd1', numaNodes: [0]},
      {id: 'd2', health: 'Unhealthy'},
      {id: 'd3'},
      {id: 'd4', numaNodes: [0, 1]},
    ],
  });
  await testbed.runPod('web');
  const pod = {name: 'web-goldennode', namespace: 'default'};
  const topology = {nodes: [{ID: '0'}]};
  using v1 = connectTo(testbed, 'pod-resources', 'v1');
  const d1 = {resource_name: RESOURCE, device_ids: ['d1'], topology};
  const expected = {
    ...pod,
    containers: [{name: 'app', devices: [d1], cpu_ids: [], memory: [], dynamic_resources: []}],
  };
  expect(await v1.call('List')).toEqual({pod_resources: [expected]});
  expect(await v1.call('Get', {pod_name: pod.name, pod_namespace: pod.namespace})).toEqual({
    pod_resources: expected,
  });
  await expect(v1.call('Get', {pod_name: 'nosuch', pod_namespace: 'default'})).rejects.toMatchObject({
    code: 2,
    details: 'pod nosuch in namespace default not found',
  });
  expect(await v1.call('GetAllocatableResources')).toEqual({
    devices: [
      d1,
      {resource_name: RESOURCE, device_ids: ['d3'], topology: null},
      {resource_name: RESOURCE, device_ids: ['d4'], topology},
      {resource_name: RESOURCE, device_ids: ['d4'], topology: {nodes: [{ID: '1'}]}},
    ],
    cpu_ids: [],
    memory: [],
  });
  using alpha = connectTo(testbed, 'pod-resources-v1alpha1', 'v1alpha1');
  expect(await alpha.call('List')).toEqual({
    pod_resources: [
      {...pod, containers: [{name: 'app', devices: [{resource_name: RESOURCE, device_ids: ['d1']}]}]},
    ],
  });
});

test('a rejected pod is not in the list of v1 only', async () => {
  await using testbed = await DeviceTestbed.start();
  await using _plugin = await testbed.plug({devices: [{id: 'd1'}]});
  await testbed.runPod('web');
  await testbed.rejected('late');
  using v1 = connectTo(testbed, 'pod-resources', 'v1');
  using alpha = connectTo(testbed, 'pod-resources-v1alpha1', 'v1alpha1');
  const namesIn = (response: object): readonly string[] =>
    (response as {pod_resources: {name: string}[]}).pod_resources.map(({name}) => name).toSorted();
  expect(namesIn(await v1.call('List'))).toEqual(['web-goldennode']);
  expect(namesIn(await alpha.call('List'))).toEqual(['late-goldennode', 'web-goldennode']);
  const late = {pod_name: 'late-goldennode', pod_namespace: 'default'};
  expect(await v1.call('Get', late)).toMatchObject({
    pod_resources: {name: 'late-goldennode', containers: [{name: 'app', devices: []}]},
  });
});

test('more than ten calls at once are rejected', async () => {
  await using testbed = await DeviceTestbed.start();
  await testbed.daemon.until('it runs', () => testbed.daemon.log.length > 0);
  using v1 = connectTo(testbed, 'pod-resources', 'v1');
  const calls = await Promise.allSettled(Array.from({length: 60}, () => v1.call('List')));
  const rejected = calls.filter(({status}) => status === 'rejected');
  expect(rejected.length).toBeGreaterThan(0);
  expect(rejected[0]).toMatchObject({reason: {code: 8, details: 'rejected by rate limit'}});
  expect(calls.length - rejected.length).toBeGreaterThanOrEqual(10);
});
