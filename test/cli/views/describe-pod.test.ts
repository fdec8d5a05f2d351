import {expect, test} from 'vitest';
import {describedPod} from '../../../src/cli/views/describe/pod.js';
import {aPod} from '../../kubelet/kuberuntime/builders.js';

test('of the owners the one is told of that controls the pod', () => {
  const owner = {apiVersion: 'apps/v1', uid: 'u'};
  const ownerReferences = [
    {...owner, kind: 'Node', name: 'n'},
    {...owner, kind: 'ReplicaSet', name: 'web', controller: true},
  ];

  expect(describedPod(aPod({}, {ownerReferences}), [], 0)).toMatch(/^Controlled By: +ReplicaSet\/web$/m);
  expect(describedPod(aPod(), [], 0)).not.toContain('Controlled By');
});
