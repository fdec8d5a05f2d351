import {expect, test} from 'vitest';
import {failuresOf} from '../../../../src/kubelet/contract/sync-result.js';
import {aScript} from '../../../commands/command-testbed.js';
import {aLocalPod, startRegistryTestbed} from '../registry-testbed.js';
import {syncOnce} from '../sync-once.js';

// Proves: PodSpec.initContainers
test('an init container that cannot be removed does not prevent a new sandbox', async () => {
  const {pods, runtime} = await startRegistryTestbed();
  const pod = aLocalPod({initContainers: [aScript('setup', 'true')]});
  for (let pass = 0; pass < 3; pass++) await syncOnce(pods.createSyncer(pod));
  for (const sandbox of runtime.sandboxes) sandbox.state = 'SANDBOX_NOTREADY';
  runtime.injectError('RemoveContainer', {code: 'UNKNOWN', message: 'device busy'});

  const {results} = await syncOnce(pods.createSyncer(pod));

  expect(runtime.callsTo('RemoveContainer')).toHaveLength(1);
  expect(failuresOf(results)).toEqual([]);
  expect(runtime.sandboxes.map(({config, state}) => [config.metadata?.attempt, state])).toEqual([
    [0, 'SANDBOX_NOTREADY'],
    [1, 'SANDBOX_READY'],
  ]);
});
