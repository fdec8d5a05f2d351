import type {Container, Pod, PodSpec} from '../../api/v1.js';
import type {Volume, VolumeProjection} from '../../api/v1-volumes.js';
import type {ApiObjects} from '../container/api-objects.js';

/** Objects of the Pod's namespace that came with it. */
interface Given {
  readonly configMap: (name?: string) => boolean;
  readonly secret: (name?: string) => boolean;
  readonly serviceAccount: (name?: string) => boolean;
}

/** A kind of object that only an API server could give, and whether the Pod needs one that it wasn't given. */
type Rule<T> = readonly [kind: string, needs: (subject: T, given: Given) => boolean];

const isName = (name: string | undefined): boolean => name !== undefined && name !== '';

const POD_RULES: readonly Rule<PodSpec>[] = [
  ['serviceaccounts', ({serviceAccountName: name}, given) => isName(name) && !given.serviceAccount(name)],
  ['secrets', (spec, given) => secretNames(spec).some((name) => isName(name) && !given.secret(name))],
  [
    'configmaps',
    (spec, given) => configMapNames(spec).some((name) => isName(name) && !given.configMap(name)),
  ],
  ['resourceclaims', ({resourceClaims = []}) => resourceClaims.length > 0],
];

/** Volumes whose references have no name of a Secret or ConfigMap. */
const VOLUME_RULES: readonly Rule<Volume>[] = [
  [
    'configmaps (via configmap volumes)',
    ({configMap}, given) => configMap !== undefined && !given.configMap(configMap.name),
  ],
  [
    'secrets (via secret volumes)',
    ({secret}, given) => secret !== undefined && !given.secret(secret.secretName),
  ],
  ['csidrivers (via CSI volumes)', ({csi}) => csi !== undefined],
  ['endpoints (via glusterFS volumes)', ({glusterfs}) => glusterfs !== undefined],
  ['persistentvolumeclaims', ({persistentVolumeClaim}) => persistentVolumeClaim !== undefined],
  ['persistentvolumeclaims (via ephemeral volumes)', ({ephemeral}) => ephemeral !== undefined],
  ['secrets (via azureFile volumes)', ({azureFile}) => azureFile !== undefined],
];

const PROJECTION_RULES: readonly Rule<VolumeProjection>[] = [
  [
    'configmaps (via projected volumes)',
    ({configMap}, given) => configMap !== undefined && !given.configMap(configMap.name),
  ],
  [
    'secrets (via projected volumes)',
    ({secret}, given) => secret !== undefined && !given.secret(secret.name),
  ],
  ['serviceaccounts (via projected volumes)', ({serviceAccountToken}) => serviceAccountToken !== undefined],
  ['clustertrustbundles', ({clusterTrustBundle}) => clusterTrustBundle !== undefined],
  ['podcertificates', ({podCertificate}) => podCertificate !== undefined],
];

/**
 * The first kind of object that the Pod refers to and that only an API server has, in the kubelet's words
 * (podutil.HasAPIObjectReference); undefined for a Pod that stands alone, but for what is among `objects`.
 */
export function apiReference({metadata, spec}: Pod, objects: ApiObjects): string | undefined {
  const {namespace = ''} = metadata;
  const given: Given = {
    configMap: (name = '') => objects.configMap(namespace, name) !== undefined,
    secret: (name = '') => objects.secret(namespace, name) !== undefined,
    serviceAccount: (name = '') => objects.serviceAccount(namespace, name) !== undefined,
  };
  return firstOf(POD_RULES, [spec], given) ?? firstOfVolumes(spec.volumes ?? [], given);
}

function firstOfVolumes(volumes: readonly Volume[], given: Given): string | undefined {
  for (const volume of volumes) {
    const kind =
      firstOf(VOLUME_RULES, [volume], given) ??
      firstOf(PROJECTION_RULES, volume.projected?.sources ?? [], given);
    if (kind !== undefined) return kind;
  }
  return undefined;
}

function firstOf<T>(rules: readonly Rule<T>[], subjects: readonly T[], given: Given): string | undefined {
  for (const subject of subjects) for (const [kind, needs] of rules) if (needs(subject, given)) return kind;
  return undefined;
}

type Names = readonly (string | undefined)[];

function allContainers({
  containers,
  initContainers = [],
  ephemeralContainers = [],
}: PodSpec): readonly Container[] {
  return [...initContainers, ...containers, ...ephemeralContainers];
}

/** Every Secret by name: of pulls, of environments and of volumes (VisitPodSecretNames). */
function secretNames(spec: PodSpec): Names {
  return [
    ...(spec.imagePullSecrets ?? []).map(({name}) => name),
    ...allContainers(spec).flatMap(({env = [], envFrom = []}) => [
      ...envFrom.map(({secretRef}) => secretRef?.name),
      ...env.map(({valueFrom}) => valueFrom?.secretKeyRef?.name),
    ]),
    ...(spec.volumes ?? []).flatMap(volumeSecretNames),
  ];
}

function volumeSecretNames(volume: Volume): Names {
  const {cephfs, cinder, csi, flexVolume, iscsi, rbd, scaleIO, storageos} = volume;
  return [
    volume.azureFile?.secretName,
    volume.secret?.secretName,
    csi?.nodePublishSecretRef?.name,
    ...[cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos].map((source) => source?.secretRef?.name),
    ...(volume.projected?.sources ?? []).map(({secret}) => secret?.name),
  ];
}

/** Every ConfigMap by name (VisitPodConfigmapNames). */
function configMapNames(spec: PodSpec): Names {
  return [
    ...allContainers(spec).flatMap(({env = [], envFrom = []}) => [
      ...envFrom.map(({configMapRef}) => configMapRef?.name),
      ...env.map(({valueFrom}) => valueFrom?.configMapKeyRef?.name),
    ]),
    ...(spec.volumes ?? []).flatMap(({configMap, projected}) => [
      configMap?.name,
      ...(projected?.sources ?? []).map((source) => source.configMap?.name),
    ]),
  ];
}
