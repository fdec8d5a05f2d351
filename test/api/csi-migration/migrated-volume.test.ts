import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {REMOVED_VOLUME_SOURCES} from '../../../src/api/types/v1-persistent-volumes.js';
import type {PersistentVolume} from '../../../src/api/types/v1-persistent-volumes.js';
import type {Volume} from '../../../src/api/types/v1-volumes.js';
import {MIGRATED_KINDS, whyNotMounted} from '../../../src/api/csi-migration/in-tree-volumes.js';
import {
  translateInlineVolume,
  translatePersistentVolume,
} from '../../../src/api/csi-migration/migrated-volume.js';
import {isObject} from '../../../src/base/is-object.js';

/** A volume, and what csi-translation-lib of Kubernetes 1.36.2 makes of it, without empty fields. */
interface Translation {
  readonly volume?: PersistentVolume;
  readonly inline?: Volume;
  readonly error?: string;
  readonly name?: string;
  readonly spec?: object;
}

const cases = readFileSync(new URL('translations.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Translation);

/** Removes what Go does not write into JSON. */
function withoutEmpty(value: unknown): unknown {
  if (!isObject(value)) return value;
  const fields = Object.entries(value).map(([key, field]) => [key, withoutEmpty(field)] as const);
  return Object.fromEntries(
    fields.filter(([, field]) => field !== false && !(isObject(field) && Object.keys(field).length === 0)),
  );
}

const persistent = cases.flatMap(({volume, ...expected}) => (volume ? [{volume, expected}] : []));
const inline = cases.flatMap(({inline: volume, ...expected}) => (volume ? [{volume, expected}] : []));
const shown = ({volume}: {readonly volume: object}): string => JSON.stringify(volume);

describe('a PersistentVolume is translated as by csi-translation-lib', () => {
  test.each(persistent.filter(({expected}) => expected.spec).map((each) => [shown(each), each] as const))(
    '%s',
    (_, {volume, expected}) => {
      const {claimRef} = volume.spec;
      const spec = withoutEmpty(translatePersistentVolume(volume).spec);
      expect(spec).toEqual({...expected.spec, ...(claimRef && {claimRef})});
    },
  );
});

describe('a volume in the spec of a pod is translated as by csi-translation-lib', () => {
  // Proves: Volume.awsElasticBlockStore, Volume.azureDisk, Volume.azureFile, Volume.cinder, Volume.gcePersistentDisk, Volume.portworxVolume, Volume.vsphereVolume, AWSElasticBlockStoreVolumeSource.volumeID, AWSElasticBlockStoreVolumeSource.fsType, AWSElasticBlockStoreVolumeSource.partition, AzureDiskVolumeSource.diskURI, AzureDiskVolumeSource.cachingMode, AzureDiskVolumeSource.fsType, AzureFileVolumeSource.secretName, AzureFileVolumeSource.shareName, CinderVolumeSource.volumeID, CinderVolumeSource.fsType, GCEPersistentDiskVolumeSource.pdName, GCEPersistentDiskVolumeSource.fsType, GCEPersistentDiskVolumeSource.partition, GCEPersistentDiskVolumeSource.readOnly, PortworxVolumeSource.volumeID, PortworxVolumeSource.fsType, PortworxVolumeSource.readOnly, VsphereVirtualDiskVolumeSource.volumePath, VsphereVirtualDiskVolumeSource.fsType
  test.each(inline.filter(({expected}) => expected.spec).map((each) => [shown(each), each] as const))(
    '%s',
    (_, {volume, expected}) => {
      const {name, source, accessModes} = translateInlineVolume(volume, 'shop') ?? {};
      const {csi, ...others} = withoutEmpty({csi: source, accessModes}) as Readonly<Record<string, unknown>>;
      expect({name, spec: {csi, ...others}}).toEqual(expected);
    },
  );
});

// Proves: AzureDiskVolumeSource.kind
test.each(
  [...persistent, ...inline]
    .filter(({expected}) => expected.error !== undefined)
    .map((each) => [shown(each), each] as const),
)('%s cannot be translated, as by csi-translation-lib', (_, {volume}) => {
  const translate = (): unknown =>
    'spec' in volume ? translatePersistentVolume(volume) : translateInlineVolume(volume, 'shop');
  expect(translate).toThrow('failed to translate in-tree pv to CSI: ');
});

// Proves: VsphereVirtualDiskVolumeSource.storagePolicyName
test('the storage policy of a vSphere disk of a pod is passed to the driver, where a kubelet ends', () => {
  const volume = {name: 'v', vsphereVolume: {volumePath: '[ds] a.vmdk', storagePolicyName: 'gold'}};
  expect(translateInlineVolume(volume, 'shop')?.source.volumeAttributes).toEqual({storagepolicyname: 'gold'});
});

test('volumes of other kinds, and sources without fields, are not translated', () => {
  const volume: PersistentVolume = {metadata: {name: 'pv'}, spec: {nfs: {server: 's', path: '/'}}};
  expect(translatePersistentVolume(volume)).toBe(volume);
  expect(translateInlineVolume({name: 'v', emptyDir: {}}, 'shop')).toBeUndefined();
  for (const source of ['x', {}])
    expect(() => translatePersistentVolume({metadata: {}, spec: {cinder: source}})).toThrow(
      'volumeID is not set',
    );
});

test('a kind that Kubernetes has removed names the CSI driver to use', () => {
  expect(whyNotMounted('rbd')).toBe(
    'Kubernetes has removed volumes of this kind; use the CSI driver rbd.csi.ceph.com',
  );
  for (const kind of REMOVED_VOLUME_SOURCES) expect(whyNotMounted(kind)).toMatch(/^Kubernetes has removed/);
  expect(
    MIGRATED_KINDS.filter((kind) => (REMOVED_VOLUME_SOURCES as readonly string[]).includes(kind)),
  ).toEqual([]);
});
