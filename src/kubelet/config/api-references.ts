import type {Container, Pod, PodSpec} from '../../api/v1.js';
import type {Volume, VolumeProjection} from '../../api/v1-volumes.js';

/** A kind of object that only an API server could give, and whether the Pod needs one. */
type Rule<T> = readonly [kind: string, needs: (subject: T) => boolean];

const isName = (name: string | undefined): boolean => name !== undefined && name !== '';

const POD_RULES: readonly Rule<PodSpec>[] = [
  ['serviceaccounts', ({serviceAccountName}) => isName(serviceAccountName)],
  ['secrets', (spec) => secretNames(spec).some(isName)],
  ['configmaps', (spec) => configMapNames(spec).some(isName)],
  ['resourceclaims', ({resourceClaims = []}) => resourceClaims.length > 0],
];

/** Volumes whose references have no name of a Secret or ConfigMap. */
const VOLUME_RULES: readonly Rule<Volume>[] = [
  ['configmaps (via configmap volumes)', ({configMap}) => configMap !== undefined],
  ['secrets (via secret volumes)', ({secret}) => secret !== undefined],
  ['csidrivers (via CSI volumes)', ({csi}) => csi !== undefined],
  ['endpoints (via glusterFS volumes)', ({glusterfs}) => glusterfs !== undefined],
  ['persistentvolumeclaims', ({persistentVolumeClaim}) => persistentVolumeClaim !== undefined],
  ['persistentvolumeclaims (via ephemeral volumes)', ({ephemeral}) => ephemeral !== undefined],
  ['secrets (via azureFile volumes)', ({azureFile}) => azureFile !== undefined],
];

const PROJECTION_RULES: readonly Rule<VolumeProjection>[] = [
  ['configmaps (via projected volumes)', ({configMap}) => configMap !== undefined],
  ['secrets (via projected volumes)', ({secret}) => secret !== undefined],
  ['serviceaccounts (via projected volumes)', ({serviceAccountToken}) => serviceAccountToken !== undefined],
  ['clustertrustbundles', ({clusterTrustBundle}) => clusterTrustBundle !== undefined],
  ['podcertificates', ({podCertificate}) => podCertificate !== undefined],
];

/**
 * The first kind of object that the Pod refers to and that only an API server has, in the kubelet's words
 * (podutil.HasAPIObjectReference); undefined for a Pod that stands alone.
 */
export function apiReference({spec}: Pod): string | undefined {
  return firstOf(POD_RULES, [spec]) ?? firstOfVolumes(spec.volumes ?? []);
}

function firstOfVolumes(volumes: readonly Volume[]): string | undefined {
  for (const volume of volumes) {
    const kind =
      firstOf(VOLUME_RULES, [volume]) ?? firstOf(PROJECTION_RULES, volume.projected?.sources ?? []);
    if (kind !== undefined) return kind;
  }
  return undefined;
}

function firstOf<T>(rules: readonly Rule<T>[], subjects: readonly T[]): string | undefined {
  for (const subject of subjects) for (const [kind, needs] of rules) if (needs(subject)) return kind;
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
