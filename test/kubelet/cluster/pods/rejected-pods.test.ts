import {expect, test} from 'vitest';
import {BUSYBOX} from '../../../fakes/runtime-builders.js';
import {ClusterTestbed} from '../cluster-testbed.js';

test('a rejected pod is rejected once, and deleted when the API server asks for it', async () => {
  await using testbed = await ClusterTestbed.start();
  const {api, daemon} = testbed;
  testbed.createPod('big', {
    containers: [{name: 'main', image: BUSYBOX, resources: {requests: {cpu: '100'}}}],
  });
  await testbed.untilPhase('big', 'Failed');
  const podPath = '/api/v1/namespaces/default/pods/big';
  const {metadata, ...pod} = api.pod('big') ?? {metadata: {}};
  api.storage.put(podPath, {...pod, metadata: {...metadata, labels: {changed: 'yes'}}});
  testbed.createPod('next');
  await testbed.untilPhase('next', 'Running');
  api.deletePod('big');
  await testbed.untilDeleted('big');
  expect(daemon.events.filter(({reason}) => reason === 'OutOfcpu')).toHaveLength(1);
});

test('a rejected pod that is being deleted gets the conditions and containers of one that has ended', async () => {
  await using testbed = await ClusterTestbed.start();
  const {api} = testbed;
  const podPath = '/api/v1/namespaces/default/pods/big';
  const containers = [{name: 'main', image: BUSYBOX, resources: {requests: {cpu: '100'}}}];
  testbed.createPod('big', {containers}, {finalizers: ['example.com/hold']});
  await testbed.untilPhase('big', 'Failed');
  api.deletePod('big');
  await testbed.daemon.until('its container is terminated', () => {
    const [container] = testbed.status('big').containerStatuses ?? [];
    return container?.state?.terminated?.reason === 'ContainerStatusUnknown';
  });

  expect(testbed.status('big')).toMatchObject({
    phase: 'Failed',
    reason: 'OutOfcpu',
    message: expect.stringContaining('Pod was rejected: ') as string,
    hostIP: expect.any(String) as string,
    conditions: expect.arrayContaining([
      expect.objectContaining({type: 'Ready', status: 'False', reason: 'PodFailed'}),
    ]) as unknown,
  });
  await testbed.daemon.until('it is deleted for good', () => api.writes.includes(`DELETE ${podPath}`));
});
