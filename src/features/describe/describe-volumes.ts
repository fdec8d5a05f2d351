import {MIGRATED_KINDS, type MigratedKind} from '../../api/csi-migration/in-tree-volumes.js';
import {compareQuantities} from '../../api/quantity.js';
import type {
  DownwardAPIVolumeSource,
  EmptyDirVolumeSource,
  Volume,
  VolumeProjection,
} from '../../api/types/v1-volumes.js';
import {besideTitle, indentLines, labelTexts, NONE} from '../../cli/output/views/aligned-lines.js';

/** Describes the volumes of a pod, in their order. */
export function volumeSection(volumes: readonly Volume[] = []): readonly string[] {
  if (volumes.length === 0) return [`Volumes:\t${NONE}`];
  return ['Volumes:', ...volumes.flatMap((volume) => [`  ${volume.name}:`, ...volumeLines(volume)])];
}

function volumeLines(volume: Volume): readonly string[] {
  for (const lines of KINDS) {
    const described = lines(volume);
    if (described !== undefined) return described;
  }
  return ['  <unknown>'];
}

/** Lines of the kinds that CSI drivers mount: the title, then titles and names of fields. */
const MIGRATED: Readonly<Record<MigratedKind, readonly [title: string, ...(readonly [string, string])[]]>> = {
  awsElasticBlockStore: [
    'AWSElasticBlockStore (a Persistent Disk resource in AWS)',
    ['VolumeID', 'volumeID'],
    ['FSType', 'fsType'],
    ['Partition', 'partition'],
    ['ReadOnly', 'readOnly'],
  ],
  azureDisk: [
    'AzureDisk (an Azure Data Disk mount on the host and bind mount to the pod)',
    ['DiskName', 'diskName'],
    ['DiskURI', 'diskURI'],
    ['Kind', 'kind'],
    ['FSType', 'fsType'],
    ['CachingMode', 'cachingMode'],
    ['ReadOnly', 'readOnly'],
  ],
  azureFile: [
    'AzureFile (an Azure File Service mount on the host and bind mount to the pod)',
    ['SecretName', 'secretName'],
    ['ShareName', 'shareName'],
    ['ReadOnly', 'readOnly'],
  ],
  cinder: [
    'Cinder (a Persistent Disk resource in OpenStack)',
    ['VolumeID', 'volumeID'],
    ['FSType', 'fsType'],
    ['ReadOnly', 'readOnly'],
  ],
  gcePersistentDisk: [
    'GCEPersistentDisk (a Persistent Disk resource in Google Compute Engine)',
    ['PDName', 'pdName'],
    ['FSType', 'fsType'],
    ['Partition', 'partition'],
    ['ReadOnly', 'readOnly'],
  ],
  portworxVolume: ['PortworxVolume (a Portworx Volume resource)', ['VolumeID', 'volumeID']],
  vsphereVolume: [
    'vSphereVolume (a Persistent Disk resource in vSphere)',
    ['VolumePath', 'volumePath'],
    ['FSType', 'fsType'],
    ['StoragePolicyName', 'storagePolicyName'],
  ],
};

/** Values that kubectl shows for fields that are not set, if they are not empty. */
const UNSET: Readonly<Record<string, string>> = {partition: '0', readOnly: 'false'};

function migratedLines(volume: Volume): readonly string[] | undefined {
  const found = MIGRATED_KINDS.find((name) => volume[name] !== undefined);
  if (found === undefined) return undefined;
  const source = volume[found] as Readonly<Record<string, string | number | boolean | undefined>>;
  const [title, ...fields] = MIGRATED[found];
  return kind(
    title,
    fields.map(([label, field]) => `${label}:\t${String(source[field] ?? UNSET[field] ?? '')}`),
  );
}

/** Volume kinds that kcri supports; its pods have no others. */
const KINDS: readonly ((volume: Volume) => readonly string[] | undefined)[] = [
  migratedLines,
  ({hostPath}) =>
    hostPath &&
    kind('HostPath (bare host directory volume)', [
      `Path:\t${hostPath.path}`,
      `HostPathType:\t${hostPath.type ?? NONE}`,
    ]),
  ({emptyDir}) => emptyDir && emptyDirLines(emptyDir),
  ({secret}) =>
    secret &&
    kind('Secret (a volume populated by a Secret)', [
      `SecretName:\t${secret.secretName ?? ''}`,
      `Optional:\t${secret.optional === true}`,
    ]),
  ({configMap}) =>
    configMap &&
    kind('ConfigMap (a volume populated by a ConfigMap)', [
      `Name:\t${configMap.name ?? ''}`,
      `Optional:\t${configMap.optional === true}`,
    ]),
  ({downwardAPI}) => downwardAPI && downwardLines(downwardAPI),
  ({projected}) =>
    projected &&
    kind(
      'Projected (a volume that contains injected data from multiple sources)',
      projected.sources.flatMap(projectionLines),
    ),
  ({persistentVolumeClaim: claim}) =>
    claim &&
    kind('PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)', [
      `ClaimName:\t${claim.claimName}`,
      `ReadOnly:\t${claim.readOnly === true}`,
    ]),
  ({ephemeral}) =>
    ephemeral &&
    kind(
      'EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)',
      [],
    ),
  ({nfs}) =>
    nfs &&
    kind('NFS (an NFS mount that lasts the lifetime of a pod)', [
      `Server:\t${nfs.server}`,
      `Path:\t${nfs.path}`,
      `ReadOnly:\t${nfs.readOnly === true}`,
    ]),
  ({flexVolume: flex}) =>
    flex &&
    kind('FlexVolume (a generic volume resource that is provisioned/attached using an exec based plugin)', [
      `Driver:\t${flex.driver}`,
      `FSType:\t${flex.fsType ?? ''}`,
      `SecretRef:\t${flex.secretRef?.name ?? NONE}`,
      `ReadOnly:\t${flex.readOnly === true}`,
      ...besideTitle('Options', labelTexts(flex.options)),
    ]),
  ({csi}) =>
    csi &&
    kind('CSI (a Container Storage Interface (CSI) volume source)', [
      `Driver:\t${csi.driver}`,
      `FSType:\t${csi.fsType ?? ''}`,
      `ReadOnly:\t${csi.readOnly === true}`,
      ...besideTitle('VolumeAttributes', labelTexts(csi.volumeAttributes)),
    ]),
  ({image}) =>
    image &&
    kind('Image (a container image or OCI artifact)', [
      `Reference:\t${image.reference ?? ''}`,
      `PullPolicy:\t${image.pullPolicy ?? ''}`,
    ]),
];

function kind(type: string, lines: readonly string[]): readonly string[] {
  return indentLines(2, [`Type:\t${type}`, ...lines]);
}

function emptyDirLines({medium = '', sizeLimit}: EmptyDirVolumeSource): readonly string[] {
  const limit = sizeLimit !== undefined && compareQuantities(sizeLimit, '0') > 0 ? sizeLimit : '<unset>';
  return kind("EmptyDir (a temporary directory that shares a pod's lifetime)", [
    `Medium:\t${medium}`,
    `SizeLimit:\t${limit}`,
  ]);
}

function downwardLines({items = []}: DownwardAPIVolumeSource): readonly string[] {
  const files = items.map(({fieldRef, resourceFieldRef, path}) => {
    const field = fieldRef?.fieldPath ?? resourceFieldRef?.resource ?? '';
    return `  ${field} -> ${path}`;
  });
  return kind('DownwardAPI (a volume populated by information about the pod)', ['Items:', ...files]);
}

function projectionLines(source: VolumeProjection): readonly string[] {
  const {secret, downwardAPI, configMap, serviceAccountToken} = source;
  if (secret !== undefined)
    return [`SecretName:\t${secret.name ?? ''}`, `Optional:\t${secret.optional === true}`];
  if (downwardAPI !== undefined) return ['DownwardAPI:\ttrue'];
  if (configMap !== undefined)
    return [`ConfigMapName:\t${configMap.name ?? ''}`, `Optional:\t${configMap.optional === true}`];
  return serviceAccountToken === undefined
    ? []
    : [`TokenExpirationSeconds:\t${serviceAccountToken.expirationSeconds ?? 3600}`];
}
