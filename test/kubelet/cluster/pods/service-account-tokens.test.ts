import {expect, test} from 'vitest';
import {BUSYBOX} from '../../../fakes/runtime-builders.js';
import {ClusterTestbed} from '../cluster-testbed.js';

// As recorded in fault-token: again after 0.5, 1, 2 and 4 s, with jitter.
test('a token that cannot be requested delays the pod by seconds only', async () => {
  await using testbed = await ClusterTestbed.start((server) => {
    server.inject(({path}) => path.endsWith('/token'), {code: 500, message: 'injected'}, 4);
  });
  const {api, daemon} = testbed;
  const source = {serviceAccountToken: {path: 'token', expirationSeconds: 3607}};
  testbed.createPod('web', {
    volumes: [{name: 'access', projected: {sources: [source]}}],
    containers: [{name: 'main', image: BUSYBOX, volumeMounts: [{name: 'access', mountPath: '/access'}]}],
  });
  const createdAt = daemon.clock.now();
  await testbed.untilPhase('web', 'Running');
  expect(daemon.clock.now() - createdAt).toBeLessThan(15_000);
  expect(api.requests.filter(({path}) => path.endsWith('/token'))).toHaveLength(5);
  const messages = daemon.events.filter(({reason}) => reason === 'FailedMount').map(({message}) => message);
  expect(new Set(messages)).toEqual(
    new Set(['MountVolume.SetUp failed for volume "access" : failed to fetch token: injected']),
  );
  // Unmounts the volume.
  api.deletePod('web');
  await daemon.untilAllRemoved();
});
