import {readdir} from 'node:fs/promises';
import {expect, test} from 'vitest';
import {PodStore} from '../../../../src/kubelet/index.js';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {DaemonTestbed} from '../daemon-testbed.js';

// Pods that return at once and continue their attempt count are tested on real runtimes, which share the
// daemon's clock.
const manifest = aManifest({containers: [aContainerSpec('main')]});
/** Returns the attempts of the pod's sandboxes in the runtime. */
const attempts = (testbed: DaemonTestbed): readonly (number | undefined)[] =>
  testbed.fake.sandboxes
    .flatMap(({config: {metadata}}) => (metadata?.name === 'web-goldennode' ? [metadata.attempt] : []))
    .toSorted();

/** Starts a testbed with a deleted pod whose exited sandbox and container are still in the runtime. */
async function startWithDeletedPod(): Promise<DaemonTestbed> {
  const testbed = await DaemonTestbed.start();
  await testbed.put('web.yaml', manifest);
  await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 1);
  await testbed.remove('web.yaml');
  const store = new PodStore(testbed.rootDir);
  await testbed.until('the pod is gone', async () => (await store.list()).records.length === 0);
  return testbed;
}

test('the containers of a deleted pod are removed after a while, and a pod added later starts from attempt 0', async () => {
  await using testbed = await startWithDeletedPod();
  await testbed.untilAllRemoved();
  await testbed.put('web.yaml', manifest);
  await testbed.until('it runs', () => testbed.running.includes('web-goldennode/main/0'));
  expect(attempts(testbed)).toEqual([0]);
});

test('a deleted pod has no directories on the node, and the next daemon removes its containers', async () => {
  await using testbed = await startWithDeletedPod();
  expect(await readdir(`${testbed.rootDir}/pods`)).toEqual([]);
  await testbed.stop();
  testbed.run();
  await testbed.untilAllRemoved();
});
