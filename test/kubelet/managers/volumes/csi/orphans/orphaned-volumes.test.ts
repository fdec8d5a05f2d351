import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {SystemError} from '../../../../../../src/base/errors.js';
import type {NodeManagerServices} from '../../../../../../src/kubelet/contract/node-manager.js';
import {unmountOrphanedVolumes} from '../../../../../../src/kubelet/managers/volumes/csi/orphans/orphaned-volumes.js';
import {temporaryDirectory} from '../../../../../base/temporary-directory.js';
import {FakeClock} from '../../../../../fakes/fake-clock.js';
import {fakeManagerServices} from '../../../../../fakes/fake-manager-services.js';
import {GOLDEN_NODE} from '../../../../../golden/golden-cases.js';

const {signal} = new AbortController();

/** Runs one pass over pods `block`, `orphan`, `own` and `running` with CSI volumes, and one without; returns the unmounted ones. */
async function pass(
  services: Partial<NodeManagerServices> = {},
  fails = false,
): Promise<{readonly isDone: boolean; readonly unmounted: readonly string[]}> {
  const rootDir = await temporaryDirectory();
  for (const uid of ['orphan', 'own', 'running'])
    await mkdir(join(rootDir, 'pods', uid, 'volumes/kubernetes.io~csi/v'), {recursive: true});
  await mkdir(join(rootDir, 'pods/block/volumeDevices/kubernetes.io~csi/v'), {recursive: true});
  await mkdir(join(rootDir, 'pods/plain/volumes/kubernetes.io~empty-dir/v'), {recursive: true});
  const unmounted: string[] = [];
  const isDone = await unmountOrphanedVolumes(
    fakeManagerServices({
      ...{node: {...GOLDEN_NODE, rootDir}, clock: new FakeClock()},
      hasPod: (uid) => uid === 'own',
      readRunning: async () => new Set(['running/main']),
      ...services,
    }),
    {
      unmountPod: async (_directory, uid) => {
        unmounted.push(uid);
        if (fails) throw new SystemError('the driver is not registered');
      },
    },
    signal,
  );
  return {isDone, unmounted: unmounted.toSorted()};
}

test('the volumes of a pod that no source has and that does not run are unmounted', async () => {
  expect(await pass()).toEqual({isDone: true, unmounted: ['block', 'orphan']});
});

test('nothing is unmounted before all sources are ready', async () => {
  expect(await pass({allSourcesReady: () => false})).toEqual({isDone: false, unmounted: []});
});

test('a failure is repeated', async () => {
  expect(await pass({}, true)).toEqual({isDone: false, unmounted: ['block', 'orphan']});
});
