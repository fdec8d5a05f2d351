import {SystemError} from '../../base/errors.js';
import {isObject} from '../../base/is-object.js';
import type {
  CSIPersistentVolumeSource,
  PersistentVolume,
  PersistentVolumeSpec,
} from '../types/v1-persistent-volumes.js';
import type {PersistentVolumeAccessMode} from '../types/v1-attached-volumes.js';
import type {Volume} from '../types/v1-volumes.js';
import {isMigrated, MIGRATED_TO_CSI, type MigratedKind} from './in-tree-volumes.js';
import {migratedNodeAffinity} from './migrated-topology.js';

/** Source of an in-tree volume, whose fields are those of its kind. */
type Source = Readonly<Record<string, unknown>>;

/** Translation of a source for its CSI driver, without the driver's name. */
type Translation = Omit<CSIPersistentVolumeSource, 'driver'>;

/** A volume in the spec of a pod as its CSI driver knows it. */
export interface MigratedInlineVolume {
  /** Name in place of that of a PersistentVolume, the same for all pods with the disk; it can have any characters. */
  readonly name: string;
  readonly source: CSIPersistentVolumeSource;
  readonly accessModes: readonly PersistentVolumeAccessMode[];
}

/**
 * Returns a PersistentVolume for the CSI driver that replaced the plugin of its kind; one of another kind as it is
 * (TranslateInTreePVToCSI). Throws SystemError for a source that cannot be translated. Pure.
 */
export function translatePersistentVolume(volume: PersistentVolume): PersistentVolume {
  const [kind, value] = Object.entries(volume.spec).find(([name]) => isMigrated(name)) ?? [];
  if (kind === undefined || !isMigrated(kind)) return volume;
  const rest: PersistentVolumeSpec = Object.fromEntries(
    Object.entries(volume.spec).filter(([name]) => name !== kind),
  );
  const source = isObject(value) ? value : {};
  const translated = kind === 'azureFile' ? azureFile(source, volume) : TRANSLATIONS[kind](source, volume);
  const nodeAffinity = migratedNodeAffinity(kind, volume);
  return {
    ...volume,
    spec: {
      ...rest,
      csi: {driver: MIGRATED_TO_CSI[kind], ...translated},
      ...(nodeAffinity !== undefined && {nodeAffinity}),
      ...(kind === 'gcePersistentDisk' &&
        rest.accessModes !== undefined && {accessModes: gceAccessModes(rest.accessModes)}),
    },
  };
}

/**
 * Returns a volume in the spec of a pod of this namespace for the CSI driver that replaced the plugin of its kind; undefined for other
 * kinds (TranslateInTreeInlineVolumeToCSI). Throws SystemError for a source that cannot be translated. Pure.
 */
export function translateInlineVolume(volume: Volume, namespace: string): MigratedInlineVolume | undefined {
  const [kind, value] = Object.entries(volume).find(([name]) => isMigrated(name)) ?? [];
  if (kind === undefined || !isMigrated(kind)) return undefined;
  const source = value as Source;
  const translated =
    kind === 'azureFile'
      ? azureShare(source, {group: '', name: volume.name, namespace})
      : TRANSLATIONS[kind](source, {metadata: {}, spec: {}});
  const driver = MIGRATED_TO_CSI[kind];
  return {
    name: inlineName(kind, source, translated),
    source: {driver, ...translated},
    accessModes: [inlineAccessMode(kind, source)],
  };
}

/** Returns the name of a volume in the spec of a pod, from which that of its directory is made. */
function inlineName(kind: MigratedKind, source: Source, {volumeHandle = ''}: Translation): string {
  if (kind === 'azureDisk' || kind === 'azureFile') return volumeHandle;
  const id = kind === 'gcePersistentDisk' ? textOf(source, 'pdName') : volumeHandle;
  return `${MIGRATED_TO_CSI[kind]}-${id}`;
}

function inlineAccessMode(kind: MigratedKind, source: Source): PersistentVolumeAccessMode {
  if (kind === 'azureFile') return 'ReadWriteMany';
  const isShared = kind === 'gcePersistentDisk' || kind === 'portworxVolume';
  return isShared && source['readOnly'] === true ? 'ReadOnlyMany' : 'ReadWriteOnce';
}

const TRANSLATIONS: Readonly<
  Record<Exclude<MigratedKind, 'azureFile'>, (source: Source, volume: PersistentVolume) => Translation>
> = {
  awsElasticBlockStore: (source) => ({
    volumeHandle: ebsVolumeId(textOf(source, 'volumeID')),
    ...accessOf(source),
    volumeAttributes: {partition: String(Number(source['partition'] ?? 0))},
  }),
  azureDisk: azureDisk,
  cinder: (source) => ({volumeHandle: textOf(source, 'volumeID'), ...accessOf(source), volumeAttributes: {}}),
  gcePersistentDisk: (source, volume) => ({
    volumeHandle: `projects/UNSPECIFIED/${gceLocation(volume)}/disks/${textOf(source, 'pdName')}`,
    ...accessOf(source),
    volumeAttributes: {partition: Number(source['partition'] ?? 0) === 0 ? '' : textOf(source, 'partition')},
  }),
  portworxVolume: (source, {metadata: {annotations = {}}}) => {
    const name = annotations['openstorage.io/auth-secret-name'];
    const namespace = annotations['openstorage.io/auth-secret-namespace'];
    const secret = name !== undefined && namespace !== undefined && {name, namespace};
    return {
      volumeHandle: textOf(source, 'volumeID'),
      ...fsTypeOf(source),
      volumeAttributes: {},
      ...(secret !== false && {
        controllerPublishSecretRef: secret,
        nodeStageSecretRef: secret,
        nodePublishSecretRef: secret,
        controllerExpandSecretRef: secret,
        nodeExpandSecretRef: secret,
      }),
    };
  },
  vsphereVolume: (source) => ({
    volumeHandle: textOf(source, 'volumePath'),
    ...fsTypeOf(source),
    volumeAttributes:
      (source['storagePolicyName'] ?? '') === ''
        ? {}
        : {storagepolicyname: textOf(source, 'storagePolicyName')},
  }),
};

function fsTypeOf({fsType}: Source): Pick<Translation, 'fsType'> {
  return typeof fsType === 'string' ? {fsType} : {};
}

function accessOf(source: Source): Pick<Translation, 'fsType' | 'readOnly'> {
  return {...(source['readOnly'] === true && {readOnly: true}), ...fsTypeOf(source)};
}

function azureDisk(source: Source): Translation {
  const {kind = 'Managed', cachingMode = '', fsType} = source;
  if (String(kind).toLowerCase() !== 'managed')
    throw untranslatable(`kind(${String(kind)}) is not supported in csi migration`);
  return {
    volumeHandle: textOf(source, 'diskURI'),
    ...accessOf(source),
    volumeAttributes: {
      kind: 'Managed',
      ...(cachingMode !== '' && {cachingmode: textOf(source, 'cachingMode')}),
      ...(fsType !== undefined && {fstype: textOf(source, 'fsType')}),
    },
  };
}

function azureFile(source: Source, {metadata, spec}: PersistentVolume): Translation {
  const namespace =
    source['secretNamespace'] === undefined ? spec.claimRef?.namespace : textOf(source, 'secretNamespace');
  if (namespace === undefined || namespace === '')
    throw untranslatable('could not find a secret namespace in PersistentVolumeSource or ClaimRef');
  const group = metadata.annotations?.['kubernetes.io/azure-file-resource-group'] ?? '';
  return azureShare(source, {group, name: metadata.name ?? '', namespace});
}

/** Parts of the identity of a share besides its source. */
interface AzureShare {
  readonly group: string;
  readonly name: string;
  /** Namespace of the Secret. */
  readonly namespace: string;
}

function azureShare(source: Source, {group, name, namespace}: AzureShare): Translation {
  const secretName = textOf(source, 'secretName');
  const share = textOf(source, 'shareName');
  const [, account = secretName] = /azure-storage-account-(.+)-secret/.exec(secretName) ?? [];
  return {
    volumeHandle: [group, account, share, name, namespace].join('#'),
    ...(source['readOnly'] === true && {readOnly: true}),
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
function gceAccessModes(modes: readonly PersistentVolumeAccessMode[]): readonly PersistentVolumeAccessMode[] {
  const isWritten = modes.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadWriteOnce');
  return modes.includes('ReadOnlyMany') && !isWritten ? ['ReadOnlyMany'] : ['ReadWriteOnce'];
}

function textOf(source: Source, field: string): string {
  const value = source[field];
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw untranslatable(`${field} is not set`);
}

function untranslatable(reason: string): SystemError {
  return new SystemError(`failed to translate in-tree pv to CSI: ${reason}`, {
    hint: 'correct the source of the volume',
  });
}
