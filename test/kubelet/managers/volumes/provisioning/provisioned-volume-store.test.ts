import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {systemClock} from '../../../../../src/base/clock.js';
import {
  ProvisionedVolumeStore,
  type ProvisionedVolume,
} from '../../../../../src/kubelet/managers/volumes/provisioning/provisioned-volume-store.js';
import {VolumeProvisioner} from '../../../../../src/kubelet/managers/volumes/provisioning/volume-provisioner.js';
import {countFileRequests} from '../../../../base/count-file-requests.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';

const DRIVER = 'dirs.example.com';

function aRecord(name: string, claim: string): ProvisionedVolume {
  return {
    ...{version: 1, name, claim, manager: 'kubelet', state: 'Bound', reclaimPolicy: 'Delete'},
    request: {
      ...{driver: DRIVER, name, mountOptions: [], accessModes: [], fsType: '', parameters: {}},
      ...{requiredBytes: '1', limitBytes: '0'},
    },
    volume: {metadata: {name}, spec: {csi: {driver: DRIVER, volumeHandle: name}}},
  };
}

async function countOf(work: () => Promise<unknown>): Promise<number> {
  using requests = countFileRequests();
  await work();
  return requests.count;
}

test('the volumes of other claims are read once, however often a claim without one is synced', async () => {
  const rootDir = await temporaryDirectory();
  const provisioner = new VolumeProvisioner({
    ...{node: {rootDir}, clock: systemClock, manager: 'kubelet'},
    csi: () => undefined,
  });
  const store = new ProvisionedVolumeStore(rootDir);
  await store.put(aRecord('pvc-0', 'default/other'));
  const own = {namespace: 'default', name: 'own'};
  expect(await provisioner.isProvisioned(own)).toBe(false);
  const requestsOf = async (): Promise<number> => await countOf(() => provisioner.isProvisioned(own));
  const withOne = await requestsOf();
  for (let index = 1; index <= 20; index++)
    await store.put(aRecord(`pvc-${index}`, `default/other-${index}`));
  expect(await requestsOf()).toBeGreaterThan(20);
  expect(await requestsOf()).toBe(withOne);

  // Another process has had a volume created.
  await store.put(aRecord('pvc-own', 'default/own'));
  expect(await provisioner.isProvisioned(own)).toBe(true);
  await store.delete({name: 'pvc-own'});
  expect(await provisioner.isProvisioned(own)).toBe(false);
});

test('a volume whose record is damaged is not forgotten', async () => {
  const store = new ProvisionedVolumeStore(await temporaryDirectory());
  await store.put(aRecord('pvc-0', 'default/c'));
  expect(await store.listOf('default/c')).toHaveLength(1);
  await writeFile(join(store.directory, 'pvc-0.json'), '{');
  await expect(store.listOf('default/c')).rejects.toThrow('invalid state of a volume');
  await writeFile(join(store.directory, 'pvc-1.json'), '{');
  await expect(store.listOf('default/other')).rejects.toThrow('invalid state of a volume');
});
