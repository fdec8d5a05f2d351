import {isMigrated, MIGRATED_TO_CSI, type MigratedKind} from '../../../../api/in-tree-volumes.js';
import type {PersistentVolumeAccessMode} from '../../../../api/types/v1-attached-volumes.js';
import type {
  CSIPersistentVolumeSource,
  PersistentVolume,
} from '../../../../api/types/v1-persistent-volumes.js';
import {SystemError} from '../../../../base/errors.js';

type Source = Readonly<Record<string, unknown>>;

/** Fields of the CSI source that differ by the kind of the in-tree volume. */
type Translation = Pick<CSIPersistentVolumeSource, 'volumeHandle'> &
  Partial<
    Pick<CSIPersistentVolumeSource, 'volumeAttributes' | 'nodeStageSecretRef' | 'nodePublishSecretRef'>
  >;

/** A volume as its CSI driver knows it. */
interface MigratedVolume {
  readonly source: CSIPersistentVolumeSource;
  readonly accessModes: readonly PersistentVolumeAccessMode[] | undefined;
}

/**
 * Returns the source for the CSI driver that replaced the plugin of a PersistentVolume; undefined if none has
 * (TranslateInTreePVToCSI). Throws SystemError for a source that cannot be translated.
 */
export function migratedVolume(volume: PersistentVolume): MigratedVolume | undefined {
  const {spec} = volume;
  const [kind, value] = Object.entries(spec).find(([name]) => isMigrated(name)) ?? [];
  if (kind === undefined || !isMigrated(kind)) return undefined;
  const source = value as Source;
  const {accessModes} = spec;
  return {
    source: {
      driver: MIGRATED_TO_CSI[kind],
      ...(source['fsType'] !== undefined && {fsType: textOf(source, 'fsType')}),
      ...(source['readOnly'] === true && {readOnly: true}),
      ...TRANSLATIONS[kind](source, volume),
    },
    accessModes: kind === 'gcePersistentDisk' ? gceAccessModes(accessModes) : accessModes,
  };
}

const TRANSLATIONS: Readonly<
  Record<MigratedKind, (source: Source, volume: PersistentVolume) => Translation>
> = {
  awsElasticBlockStore: (source) => ({
    volumeHandle: ebsVolumeId(textOf(source, 'volumeID')),
    volumeAttributes: {partition: String(Number(source['partition'] ?? 0))},
  }),
  azureDisk: (source) => {
    const {kind = 'Managed', cachingMode, fsType} = source;
    if (String(kind).toLowerCase() !== 'managed')
      throw untranslatable(`kind(${String(kind)}) is not supported in csi migration`);
    return {
      volumeHandle: textOf(source, 'diskURI'),
      volumeAttributes: {
        kind: 'Managed',
        ...(cachingMode !== undefined && {cachingmode: textOf(source, 'cachingMode')}),
        ...(fsType !== undefined && {fstype: textOf(source, 'fsType')}),
      },
    };
  },
  azureFile: azureFile,
  cinder: (source) => ({volumeHandle: textOf(source, 'volumeID'), volumeAttributes: {}}),
  gcePersistentDisk: (source, volume) => ({
    volumeHandle: `projects/UNSPECIFIED/${gceLocation(volume)}/disks/${textOf(source, 'pdName')}`,
    volumeAttributes: {partition: Number(source['partition'] ?? 0) === 0 ? '' : textOf(source, 'partition')},
  }),
  portworxVolume: (source, {metadata: {annotations = {}}}) => {
    const name = annotations['openstorage.io/auth-secret-name'];
    const namespace = annotations['openstorage.io/auth-secret-namespace'];
    const secret = name !== undefined && namespace !== undefined && {name, namespace};
    return {
      volumeHandle: textOf(source, 'volumeID'),
      ...(secret !== false && {nodeStageSecretRef: secret, nodePublishSecretRef: secret}),
    };
  },
  vsphereVolume: (source) => ({
    volumeHandle: textOf(source, 'volumePath'),
    volumeAttributes:
      source['storagePolicyName'] === undefined
        ? {}
        : {storagepolicyname: textOf(source, 'storagePolicyName')},
  }),
};

function azureFile(source: Source, {metadata, spec}: PersistentVolume): Translation {
  const secretName = textOf(source, 'secretName');
  const share = textOf(source, 'shareName');
  const namespace =
    source['secretNamespace'] === undefined ? spec.claimRef?.namespace : textOf(source, 'secretNamespace');
  if (namespace === undefined || namespace === '')
    throw untranslatable('could not find a secret namespace in PersistentVolumeSource or ClaimRef');
  const [, account = secretName] = /azure-storage-account-(.+)-secret/.exec(secretName) ?? [];
  const group = metadata.annotations?.['kubernetes.io/azure-file-resource-group'] ?? '';
  return {
    volumeHandle: [group, account, share, metadata.name ?? '', namespace].join('#'),
    volumeAttributes: {sharename: share},
    nodeStageSecretRef: {name: secretName, namespace},
  };
}

/** Returns the ID in `aws://zone/vol-1`, or a plain one as it is. */
function ebsVolumeId(id: string): string {
  if (!id.startsWith('aws://')) return id;
  const [, found] = /^aws:\/\/[^/]*\/+(vol-[^/]*)\/*$/.exec(id) ?? [];
  if (found === undefined) throw untranslatable(`Invalid format for AWS volume (${id})`);
  return found;
}

/** Returns the zone of a disk, or the region of one in several zones, from the labels of the volume. */
function gceLocation({metadata: {labels = {}}}: PersistentVolume): string {
  const label = labels['failure-domain.beta.kubernetes.io/zone'] ?? '';
  const zones = (label === '' ? (labels['topology.kubernetes.io/zone'] ?? '') : label).split('__');
  const [first = ''] = zones;
  if (zones.length === 1) return `zones/${first === '' ? 'UNSPECIFIED' : first}`;
  const regions = new Set(zones.map((zone) => zone.split('-').slice(0, 2).join('-')));
  const [region = ''] = regions;
  if (regions.size !== 1 || zones.some((zone) => zone.split('-').length !== 3))
    throw untranslatable(`failed to get region from zones: ${zones.join(', ')}`);
  return `regions/${region}`;
}

/** Returns the access modes that the driver has: the plugin took ReadWriteMany for ReadWriteOnce. */
function gceAccessModes(
  modes: readonly PersistentVolumeAccessMode[] | undefined,
): readonly PersistentVolumeAccessMode[] | undefined {
  if (modes === undefined) return undefined;
  return modes.every((mode) => mode === 'ReadOnlyMany') && modes.length > 0
    ? ['ReadOnlyMany']
    : ['ReadWriteOnce'];
}

function textOf(source: Source, field: string): string {
  const value = source[field];
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw untranslatable(`${field} is not set`);
}

function untranslatable(reason: string): SystemError {
  return new SystemError(`failed to translate in-tree volume to CSI: ${reason}`, {
    hint: 'correct the source of the PersistentVolume',
  });
}
