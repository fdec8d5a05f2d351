import {expect, test} from 'vitest';
import {unsupportedFields} from '../../../../src/kubelet/pods/field-support/unsupported-fields.js';
import {aContainer, aPod} from '../../pod-builders.js';
import {startRegistryTestbed} from '../registry-testbed.js';

const hungry = (uid: string, cpu: string) =>
  aPod({containers: [aContainer({resources: {requests: {cpu}}})]}, {name: uid, uid});

test('a pod that the node doesn’t take leaves nothing, and an event', async () => {
  const {pods, runtime, events} = await startRegistryTestbed();
  const pod = aPod({securityContext: {sysctls: [{name: 'kernel.msgmax', value: '1'}]}});

  await expect(pods.adopt(pod, 'pod.yaml')).rejects.toMatchObject({
    message:
      'pod "default/web": SysctlForbidden: Pod was rejected: forbidden sysctl: "kernel.msgmax" not allowlisted',
    hint: expect.stringContaining('--allowed-unsafe-sysctls') as unknown,
  });

  expect((await pods.store.list()).records).toEqual([]);
  expect(runtime.callsTo('RunPodSandbox')).toEqual([]);
  expect(events).toMatchObject([
    {
      type: 'Warning',
      reason: 'SysctlForbidden',
      message: 'forbidden sysctl: "kernel.msgmax" not allowlisted',
    },
  ]);
});

test('other pods count, the pod itself and the one that it replaces don’t', async () => {
  const {pods} = await startRegistryTestbed();
  await pods.adopt(hungry('a', '1500m'), 'a.yaml');

  await expect(pods.adopt(hungry('b', '1500m'), 'b.yaml')).rejects.toThrow('OutOfcpu');
  await pods.adopt(hungry('a', '1500m'), 'a.yaml');
  const changed = hungry('a', '1600m');
  await pods.adopt({...changed, metadata: {...changed.metadata, uid: 'c'}}, 'a.yaml');

  expect((await pods.store.list()).records.map(({uid}) => uid)).toEqual(['c']);
});

test('a pod may ask for devices that the node doesn’t know, and is told to run without', async () => {
  const {pods, events} = await startRegistryTestbed();
  const resources = {limits: {'example.com/gpu': '1', cpu: '1'}, requests: {'example.com/gpu': '1'}};
  const init = aContainer({name: 'init', resources: {requests: {'example.com/fpga': '2'}}});
  const pod = aPod({containers: [aContainer({resources})], initContainers: [init]});

  await pods.adopt(pod, 'pod.yaml');
  await pods.adopt(pod, 'pod.yaml');

  expect(events.map(({type, reason, message}) => ({type, reason, message}))).toEqual([
    {
      type: 'Warning',
      reason: 'UnknownResource',
      message:
        "The node doesn't know example.com/fpga, example.com/gpu: containers run without, no device plugins are asked for devices",
    },
  ]);
  expect(unsupportedFields(pod)).toEqual([]);
});
