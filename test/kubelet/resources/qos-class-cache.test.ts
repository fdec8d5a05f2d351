import {expect, test} from 'vitest';
import {computePodQosClass} from '../../../src/kubelet/resources/qos-class.js';
import {aContainer, aPod} from '../../fakes/a-pod.js';

test('the QoS class of a pod is computed once, because it is part of the configuration of each container', () => {
  let reads = 0;
  const container = Object.defineProperty({...aContainer()}, 'resources', {
    get: () => {
      reads += 1;
      return {requests: {cpu: '1'}};
    },
  });
  const pod = {...aPod(), spec: {containers: [container]}};
  const first = computePodQosClass(pod);
  const readsOnce = reads;
  expect([first, computePodQosClass(pod)]).toEqual(['Burstable', 'Burstable']);
  expect(reads).toBe(readsOnce);
});
