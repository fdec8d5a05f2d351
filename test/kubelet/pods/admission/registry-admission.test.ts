import {expect, test} from 'vitest';
import {unsupportedFields} from '../../../../src/kubelet/pods/field-support/unsupported-fields.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';
import {startRegistryTestbed} from '../registry-testbed.js';

const aPodRequestingCpu = (uid: string, cpu: string) =>
  aPod({containers: [aContainer({resources: {requests: {cpu}}})]}, {name: uid, uid});

test('a rejected pod leaves no record and no sandbox, only an event', async () => {
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

test('admission counts other pods, but neither the pod itself nor the pod that it replaces', async () => {
  const {pods} = await startRegistryTestbed();
  await pods.adopt(aPodRequestingCpu('a', '1500m'), 'a.yaml');

  await expect(pods.adopt(aPodRequestingCpu('b', '1500m'), 'b.yaml')).rejects.toThrow('OutOfcpu');
  await pods.adopt(aPodRequestingCpu('a', '1500m'), 'a.yaml');
  const changed = aPodRequestingCpu('a', '1600m');
  await pods.adopt({...changed, metadata: {...changed.metadata, uid: 'c'}}, 'a.yaml');

  expect((await pods.store.list()).records.map(({uid}) => uid)).toEqual(['c']);
});

test('a pod that requests unknown extended resources is admitted with a warning', async () => {
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
        'Unknown resources example.com/fpga, example.com/gpu: containers run without them, since no device plugin has registered them',
    },
  ]);
  expect(unsupportedFields(pod)).toEqual([]);
});
