import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {systemClock} from '../../../../../src/base/clock.js';
import {startCsi} from '../../../../../src/kubelet/managers/volumes/csi/start-csi.js';
import type {CsiVolumes} from '../../../../../src/kubelet/contract/volumes/csi-volumes.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {until} from '../../../../base/until.js';
import {fakeManagerServices} from '../../../../fakes/fake-manager-services.js';
import {CSI_DRIVER, FakeCsiDriver} from '../../../../fakes/plugins/fake-csi-driver.js';
import {GOLDEN_NODE} from '../../../../golden/golden-cases.js';

const UID = 'u1';
const KEY = {driver: CSI_DRIVER, handle: 'h'};
const NEW = {
  ...{driver: CSI_DRIVER, name: 'pvc-1', accessModes: [], mountOptions: [], fsType: '', secret: undefined},
  ...{requiredBytes: 1n, limitBytes: 0n, parameters: {}},
};

/** Calls of a driver that are made without a signal of their own, and the methods that hang. */
const CALLS: readonly (readonly [
  method: string,
  call: (csi: CsiVolumes, podDir: string) => Promise<unknown>,
])[] = [
  [
    'NodeGetVolumeStats',
    async (csi, podDir) => csi.measure(join(podDir, 'volumes/kubernetes.io~csi/pv/mount')),
  ],
  [
    'NodeGetCapabilities',
    async (csi, podDir) => csi.measure(join(podDir, 'volumes/kubernetes.io~csi/pv/mount')),
  ],
  ['NodeUnpublishVolume', async (csi, podDir) => csi.unmountPod(podDir, UID)],
  ['DeleteVolume', async (csi) => csi.deleteVolume({...KEY, secret: undefined})],
  ['CreateVolume', async (csi) => csi.createVolume(NEW, new AbortController().signal)],
];

test.each(CALLS)(
  'a driver that hangs in %s is not waited for when the kubelet ends',
  async (method, call) => {
    const rootDir = await temporaryDirectory();
    const podDir = join(rootDir, 'pods', UID);
    const volume = join(podDir, 'volumes/kubernetes.io~csi/pv');
    await mkdir(volume, {recursive: true});
    const data = {driverName: CSI_DRIVER, volumeHandle: 'h', volumeLifecycleMode: 'Persistent'};
    await writeFile(join(volume, 'vol_data.json'), JSON.stringify(data));
    const path = join(rootDir, 'csi.sock');
    await using driver = await FakeCsiDriver.start({
      path,
      capabilities: ['GET_VOLUME_STATS'],
      answers: {[method]: async () => await new Promise<object>(() => undefined)},
    });
    const end = new AbortController();
    const node = {...GOLDEN_NODE, rootDir};
    const {drivers, volumes} = await startCsi(fakeManagerServices({node, clock: systemClock}), end.signal);
    await drivers.register({name: CSI_DRIVER, endpoint: path, versions: ['1.0.0']}, end.signal);
    const called = expect(call(volumes, podDir)).rejects.toThrow('the kubelet is stopping');
    await until(() => driver.callsTo(method).length > 0);
    end.abort();
    await called;
    await until(() => driver.openConnections === 0);
  },
);
