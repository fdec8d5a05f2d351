import {expect, test} from 'vitest';
import {BUSYBOX} from '../../../fakes/runtime-builders.js';
import {ClusterTestbed} from '../cluster-testbed.js';

test('a pod that gets an ephemeral container keeps running, also after a restart of the kubelet', async () => {
  await using testbed = await ClusterTestbed.start();
  const {api, daemon} = testbed;
  testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
  const pod = api.pod('web')!;
  const ephemeralContainers = [{name: 'debugger', image: BUSYBOX, targetContainerName: 'main'}];
  api.storage.put('/api/v1/namespaces/default/pods/web', {
    ...pod,
    spec: {...(pod['spec'] as object), ephemeralContainers},
  });
  testbed.createPod('other');
  await testbed.untilPhase('other', 'Running');
  await daemon.stop();
  daemon.run();
  testbed.createPod('third');
  await testbed.untilPhase('third', 'Running');
  expect([testbed.status('web').phase, daemon.running]).toEqual([
    'Running',
    ['other/main/0', 'third/main/0', 'web/main/0'],
  ]);
});
