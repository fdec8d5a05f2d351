import {readdir} from 'node:fs/promises';
import {expect, test} from 'vitest';
import {PodStore} from '../../../../src/kubelet/index.js';
import {aContainerSpec, aManifest} from '../../../commands/pod-scene.js';
import {DaemonTestbed} from '../daemon-testbed.js';

// That one that comes back at once counts on is tested on real runtimes, whose time is the same as the daemon's.
const manifest = aManifest({containers: [aContainerSpec('main')]});
/** Of the pod's sandboxes that the runtime has. */
const attempts = (ground: DaemonTestbed): readonly (number | undefined)[] =>
  ground.fake.sandboxes
    .flatMap(({config: {metadata}}) => (metadata?.name === 'web-goldennode' ? [metadata.attempt] : []))
    .toSorted();

/** A pod that ran, and of which the runtime keeps its ended sandbox and container. */
async function withGonePod(): Promise<DaemonTestbed> {
  const ground = await DaemonTestbed.start();
  await ground.put('web.yaml', manifest);
  await ground.until('the pod runs', () => ground.statusOf('web').ready === 1);
  await ground.remove('web.yaml');
  const store = new PodStore(ground.rootDir);
  await ground.until('the pod is gone', async () => (await store.list()).records.length === 0);
  return ground;
}

test('what the runtime keeps goes after a while, and a pod that comes back then is a new one', async () => {
  await using ground = await withGonePod();
  await ground.untilNothingIsLeft();
  await ground.put('web.yaml', manifest);
  await ground.until('it runs', () => ground.running.includes('web-goldennode/main/0'));
  expect(attempts(ground)).toEqual([0]);
});

test('of a pod that is gone nothing is on the node, and the next daemon removes what the runtime keeps', async () => {
  await using ground = await withGonePod();
  expect(await readdir(`${ground.rootDir}/pods`)).toEqual([]);
  await ground.stop();
  ground.run();
  await ground.untilNothingIsLeft();
});
