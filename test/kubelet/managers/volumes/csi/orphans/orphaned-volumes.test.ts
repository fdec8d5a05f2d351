import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {systemClock} from '../../../../../../src/base/clock.js';
import {SystemError} from '../../../../../../src/base/errors.js';
import type {NodeManagerServices} from '../../../../../../src/kubelet/contract/node-manager.js';
import {unmountOrphanedVolumes} from '../../../../../../src/kubelet/managers/volumes/csi/orphans/orphaned-volumes.js';
import {startCsi} from '../../../../../../src/kubelet/managers/volumes/csi/start-csi.js';
import {temporaryDirectory} from '../../../../../base/temporary-directory.js';
import {FakeClock} from '../../../../../fakes/fake-clock.js';
import {fakeManagerServices} from '../../../../../fakes/fake-manager-services.js';
import {CSI_DRIVER, FakeCsiDriver} from '../../../../../fakes/plugins/fake-csi-driver.js';
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

test('a pod that a source adds while the running containers are read keeps its volumes', async () => {
  const pods = new Set(['own']);
  const services = {
    hasPod: (uid: string) => pods.has(uid),
    readRunning: async () => {
      pods.add('orphan');
      return new Set(['running/main']);
    },
  };
  expect(await pass(services)).toEqual({isDone: true, unmounted: ['block']});
});

test('a pod that is added between two attempts keeps its volumes', async () => {
  const path = join(await temporaryDirectory(), 'csi.sock');
  await using driver = await FakeCsiDriver.start({path});
  driver.fail('NodeUnpublishVolume', 'UNAVAILABLE', 'busy');
  const node = {...GOLDEN_NODE, rootDir: await temporaryDirectory()};
  const end = new AbortController();
  const {drivers, volumes} = await startCsi(fakeManagerServices({node, clock: systemClock}), end.signal);
  await drivers.register({name: CSI_DRIVER, endpoint: path, versions: ['1.0.0']}, signal);
  const directory = join(node.rootDir, 'pods/u1');
  await mkdir(join(directory, 'volumes/kubernetes.io~csi/v'), {recursive: true});
  await writeFile(
    join(directory, 'volumes/kubernetes.io~csi/v/vol_data.json'),
    JSON.stringify({driverName: CSI_DRIVER, volumeHandle: 'h', volumeLifecycleMode: 'Ephemeral'}),
  );
  const hasPod = (): boolean => driver.callsTo('NodeUnpublishVolume').length > 0;
  await expect(volumes.unmountPod(directory, 'u1', signal, hasPod)).rejects.toThrow(
    'a pod with this UID uses its volumes',
  );
  expect(driver.callsTo('NodeUnpublishVolume')).toHaveLength(1);
  end.abort();
});
