import {allContainersOf} from '../../api/pod-containers.js';
import type {Pod, PodSpec} from '../../api/types/v1-pod.js';
import type {Volume, VolumeProjection} from '../../api/types/v1-volumes.js';
import type {ApiObjects} from '../contract/api-objects.js';

/** Reports which objects in the Pod's namespace come with its manifests. */
interface AvailableObjects {
  readonly configMap: (name?: string) => boolean;
  readonly secret: (name?: string) => boolean;
  readonly serviceAccount: (name?: string) => boolean;
  /** True if CSI volumes and claims need an API server; without one, the node's own drivers and directories serve them. */
  readonly inCluster: boolean;
}

/** Kind of API object, and a predicate for a reference to an unavailable object of that kind. */
type Rule<T> = readonly [kind: string, needs: (subject: T, available: AvailableObjects) => boolean];

const isName = (name: string | undefined): boolean => name !== undefined && name !== '';

const POD_RULES: readonly Rule<PodSpec>[] = [
  [
    'serviceaccounts',
    ({serviceAccountName: name}, available) => isName(name) && !available.serviceAccount(name),
  ],
  ['secrets', (spec, available) => secretNames(spec).some((name) => isName(name) && !available.secret(name))],
  [
    'configmaps',
    (spec, available) => configMapNames(spec).some((name) => isName(name) && !available.configMap(name)),
  ],
  ['resourceclaims', ({resourceClaims = []}, {inCluster}) => inCluster && resourceClaims.length > 0],
];

/** Rules for volumes that refer to an API object without a name of a Secret or ConfigMap in the spec. */
const VOLUME_RULES: readonly Rule<Volume>[] = [
  [
    'configmaps (via configmap volumes)',
    ({configMap}, available) => configMap !== undefined && !available.configMap(configMap.name),
  ],
  [
    'secrets (via secret volumes)',
    ({secret}, available) => secret !== undefined && !available.secret(secret.secretName),
  ],
  ['csidrivers (via CSI volumes)', ({csi}, {inCluster}) => inCluster && csi !== undefined],
  ['endpoints (via glusterFS volumes)', ({glusterfs}) => glusterfs !== undefined],
  [
    'persistentvolumeclaims',
    ({persistentVolumeClaim}, {inCluster}) => inCluster && persistentVolumeClaim !== undefined,
  ],
  [
    'persistentvolumeclaims (via ephemeral volumes)',
    ({ephemeral}, {inCluster}) => inCluster && ephemeral !== undefined,
  ],
  ['secrets (via azureFile volumes)', ({azureFile}) => azureFile !== undefined],
];

const PROJECTION_RULES: readonly Rule<VolumeProjection>[] = [
  [
    'configmaps (via projected volumes)',
    ({configMap}, available) => configMap !== undefined && !available.configMap(configMap.name),
  ],
  [
    'secrets (via projected volumes)',
    ({secret}, available) => secret !== undefined && !available.secret(secret.name),
  ],
  ['serviceaccounts (via projected volumes)', ({serviceAccountToken}) => serviceAccountToken !== undefined],
  ['clustertrustbundles', ({clusterTrustBundle}) => clusterTrustBundle !== undefined],
  ['podcertificates', ({podCertificate}) => podCertificate !== undefined],
];

/**
 * Returns the first kind of API object that the Pod refers to and that is not among `objects`, in the kubelet's
 * wording; undefined without such a reference (podutil.HasAPIObjectReference).
 */
export function findApiObjectReference(
  {metadata, spec}: Pod,
  objects: ApiObjects,
  {inCluster}: {readonly inCluster: boolean},
): string | undefined {
  const {namespace = ''} = metadata;
  const available: AvailableObjects = {
    inCluster,
    configMap: (name = '') => objects.configMap(namespace, name) !== undefined,
    secret: (name = '') => objects.secret(namespace, name) !== undefined,
    serviceAccount: (name = '') => objects.serviceAccount(namespace, name) !== undefined,
  };
  return firstOf(POD_RULES, [spec], available) ?? firstOfVolumes(spec.volumes ?? [], available);
}

function firstOfVolumes(volumes: readonly Volume[], available: AvailableObjects): string | undefined {
  for (const volume of volumes) {
    const kind =
      firstOf(VOLUME_RULES, [volume], available) ??
      firstOf(PROJECTION_RULES, volume.projected?.sources ?? [], available);
    if (kind !== undefined) return kind;
  }
  return undefined;
}

function firstOf<T>(
  rules: readonly Rule<T>[],
  subjects: readonly T[],
  available: AvailableObjects,
): string | undefined {
  for (const subject of subjects)
    for (const [kind, needs] of rules) if (needs(subject, available)) return kind;
  return undefined;
}

/** Names of objects; undefined and empty ones are missing. */
type Names = readonly (string | undefined)[];

/** Returns the names of all Secrets that image pulls, environments and volumes refer to (VisitPodSecretNames). */
export function secretNames(spec: PodSpec): Names {
  return [
    ...syncedSecretNames(spec),
    ...allContainersOf({spec}).flatMap(({env = [], envFrom = []}) => [
      ...envFrom.map(({secretRef}) => secretRef?.name),
      ...env.map(({valueFrom}) => valueFrom?.secretKeyRef?.name),
    ]),
  ];
}

/** Returns the names of the Secrets that each sync reads, also of a running pod: those of image pulls and volumes. */
export function syncedSecretNames({imagePullSecrets = [], volumes = []}: PodSpec): Names {
  return [...imagePullSecrets.map(({name}) => name), ...volumes.flatMap(secretNamesOfVolume)];
}

function secretNamesOfVolume(volume: Volume): Names {
  const {cephfs, cinder, csi, flexVolume, iscsi, rbd, scaleIO, storageos} = volume;
  return [
    volume.azureFile?.secretName,
    volume.secret?.secretName,
    csi?.nodePublishSecretRef?.name,
    ...[cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos].map((source) => source?.secretRef?.name),
    ...(volume.projected?.sources ?? []).map(({secret}) => secret?.name),
  ];
}

/** Returns the names of all ConfigMaps that environments and volumes refer to (VisitPodConfigmapNames). */
export function configMapNames(spec: PodSpec): Names {
  return [
    ...allContainersOf({spec}).flatMap(({env = [], envFrom = []}) => [
      ...envFrom.map(({configMapRef}) => configMapRef?.name),
      ...env.map(({valueFrom}) => valueFrom?.configMapKeyRef?.name),
    ]),
    ...volumeConfigMapNames(spec),
  ];
}

/** Returns the names of all ConfigMaps that volumes refer to. */
export function volumeConfigMapNames({volumes = []}: PodSpec): Names {
  return volumes.flatMap(({configMap, projected}) => [
    configMap?.name,
    ...(projected?.sources ?? []).map((source) => source.configMap?.name),
  ]);
}
