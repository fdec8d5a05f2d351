import {expect, test} from 'vitest';
import {formatResizeMessage} from '../../../../src/kubelet/pods/allocation/resize-message.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';

test('the message has the resources of the containers, and none of the whole pod', () => {
  const pod = aPod({
    resources: {requests: {cpu: '1'}},
    containers: [aContainer({name: 'main', resources: {requests: {memory: '64Mi', cpu: '100m'}}})],
  });
  expect(formatResizeMessage('Pod resize started', pod)).toBe(
    'Pod resize started: {"containers":[{"name":"main","resources":{"requests":{"cpu":"100m","memory":"64Mi"}}}],"generation":0}',
  );
});
