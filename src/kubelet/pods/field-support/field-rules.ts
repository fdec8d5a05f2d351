import type {
  Container,
  EnvVarSource,
  Lifecycle,
  Pod,
  PodOS,
  PodSpec,
  VolumeMount,
} from '../../../api/types/v1-pod.js';
import type {ObjectMeta, ResourceRequirements} from '../../../api/types/v1-meta.js';
import {whyNotMounted} from '../../../api/csi-migration/in-tree-volumes.js';
import type {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  AzureFileVolumeSource,
  CinderVolumeSource,
  PersistentVolumeClaimSpec,
  VsphereVirtualDiskVolumeSource,
} from '../../../api/types/v1-attached-volumes.js';
import type {Affinity, NodeAffinity} from '../../../api/types/v1-scheduling.js';
import type {PodSecurityContext, SecurityContext} from '../../../api/types/v1-security.js';
import type {Volume, VolumeProjection} from '../../../api/types/v1-volumes.js';

/** Support of a field of the Pod API. Every field has a rule: none is dropped silently. */
export type FieldRule<Value = never> =
  | {readonly kind: 'honored'}
  /** The field has no effect, because it has none on any node. */
  | {readonly kind: 'ignored'; readonly reason: string}
  /** The field is an error, for all values or for some. */
  | {
      readonly kind: 'refused';
      readonly reason: string;
      readonly when: (value: Value) => boolean;
    };

type RulesOf<T> = {readonly [Name in keyof T]-?: FieldRule<Exclude<T[Name], undefined>>};

const honored: FieldRule<unknown> = {kind: 'honored'};
const ignored = (reason: string): FieldRule<unknown> => ({kind: 'ignored', reason});

function refused<Value>(reason: string, when: (value: Value) => boolean = () => true): FieldRule<Value> {
  return {kind: 'refused', reason, when};
}

const FOR_SCHEDULERS = 'only schedulers use it';
const OF_THE_API_SERVER = 'only the API server uses it';
const WINDOWS = 'this is a Linux node';
const DELETION = 'a manifest cannot delete its pod; use "kcri delete"';

const POD: RulesOf<Pod> = {
  apiVersion: honored,
  kind: honored,
  metadata: honored,
  spec: honored,
  status: ignored('the kubelet computes the status'),
};

const OBJECT_META: RulesOf<ObjectMeta> = {
  name: honored,
  generateName: ignored('the name is used, or computed from the content'),
  namespace: honored,
  selfLink: ignored(OF_THE_API_SERVER),
  uid: honored,
  resourceVersion: ignored(OF_THE_API_SERVER),
  generation: ignored(OF_THE_API_SERVER),
  creationTimestamp: ignored(OF_THE_API_SERVER),
  deletionTimestamp: refused(DELETION),
  deletionGracePeriodSeconds: refused(DELETION),
  labels: honored,
  annotations: honored,
  ownerReferences: ignored('only controllers and the garbage collector use it'),
  finalizers: ignored('they delay the deletion in the API server, not on the node'),
  managedFields: ignored(OF_THE_API_SERVER),
};

const POD_SPEC: RulesOf<PodSpec> = {
  volumes: honored,
  initContainers: honored,
  containers: honored,
  ephemeralContainers: refused('they can only be added to a running pod, through an API server'),
  restartPolicy: honored,
  terminationGracePeriodSeconds: honored,
  activeDeadlineSeconds: honored,
  dnsPolicy: honored,
  nodeSelector: honored,
  serviceAccountName: ignored('only an API server issues tokens; the name is available through fieldRef'),
  serviceAccount: ignored('it is a deprecated alias of serviceAccountName'),
  automountServiceAccountToken: ignored('only an API server issues tokens'),
  nodeName: ignored('the pod runs on the node that reads its manifest'),
  hostNetwork: honored,
  hostPID: honored,
  hostIPC: honored,
  shareProcessNamespace: honored,
  securityContext: honored,
  imagePullSecrets: honored,
  hostname: honored,
  subdomain: honored,
  affinity: honored,
  schedulerName: ignored(FOR_SCHEDULERS),
  tolerations: ignored('the node has no taints'),
  hostAliases: honored,
  priorityClassName: honored,
  priority: honored,
  dnsConfig: honored,
  readinessGates: honored,
  runtimeClassName: honored,
  enableServiceLinks: honored,
  preemptionPolicy: ignored(FOR_SCHEDULERS),
  overhead: honored,
  topologySpreadConstraints: ignored(FOR_SCHEDULERS),
  setHostnameAsFQDN: honored,
  os: honored,
  hostUsers: honored,
  schedulingGates: refused('only an API server can remove them'),
  resourceClaims: honored,
  resources: honored,
  hostnameOverride: honored,
  schedulingGroup: ignored(FOR_SCHEDULERS),
};

const CONTAINER: RulesOf<Container> = {
  name: honored,
  image: honored,
  command: honored,
  args: honored,
  workingDir: honored,
  ports: honored,
  envFrom: honored,
  env: honored,
  resources: honored,
  resizePolicy: honored,
  restartPolicy: honored,
  restartPolicyRules: honored,
  volumeMounts: honored,
  volumeDevices: honored,
  livenessProbe: honored,
  readinessProbe: honored,
  startupProbe: honored,
  lifecycle: honored,
  terminationMessagePath: honored,
  terminationMessagePolicy: honored,
  imagePullPolicy: honored,
  securityContext: honored,
  stdin: honored,
  stdinOnce: honored,
  tty: honored,
};

const LIFECYCLE: RulesOf<Lifecycle> = {
  postStart: honored,
  preStop: honored,
  stopSignal: ignored('the feature gate ContainerStopSignals is disabled'),
};

const ENV_VAR_SOURCE: RulesOf<EnvVarSource> = {
  fieldRef: honored,
  resourceFieldRef: honored,
  configMapKeyRef: honored,
  secretKeyRef: honored,
  fileKeyRef: honored,
};

const RESOURCE_REQUIREMENTS: RulesOf<ResourceRequirements> = {
  // reportUnknownResources warns about devices unknown to the node when a pod of a manifest is admitted.
  limits: honored,
  requests: honored,
  claims: honored,
};

const VOLUME_MOUNT: RulesOf<VolumeMount> = {
  name: honored,
  readOnly: honored,
  recursiveReadOnly: honored,
  mountPath: honored,
  subPath: honored,
  mountPropagation: honored,
  subPathExpr: honored,
};

const SECURITY_CONTEXT: RulesOf<SecurityContext> = {
  capabilities: honored,
  privileged: honored,
  seLinuxOptions: honored,
  windowsOptions: refused(WINDOWS),
  runAsUser: honored,
  runAsGroup: honored,
  runAsNonRoot: honored,
  readOnlyRootFilesystem: honored,
  allowPrivilegeEscalation: honored,
  procMount: honored,
  seccompProfile: honored,
  appArmorProfile: honored,
};

const POD_SECURITY_CONTEXT: RulesOf<PodSecurityContext> = {
  seLinuxOptions: honored,
  windowsOptions: refused(WINDOWS),
  runAsUser: honored,
  runAsGroup: honored,
  runAsNonRoot: honored,
  supplementalGroups: honored,
  supplementalGroupsPolicy: honored,
  fsGroup: honored,
  sysctls: honored,
  fsGroupChangePolicy: honored,
  seccompProfile: honored,
  appArmorProfile: honored,
  seLinuxChangePolicy: ignored('emptyDir volumes are labeled with every policy'),
};

const VOLUME: RulesOf<Volume> = {
  name: honored,
  hostPath: honored,
  emptyDir: honored,
  secret: honored,
  configMap: honored,
  downwardAPI: honored,
  projected: honored,
  image: honored,
  gitRepo: refused(
    'Kubernetes 1.36 mounts no gitRepo volumes, and the feature gate GitRepoVolumeDriver cannot be enabled; clone into an emptyDir in an init container',
  ),
  gcePersistentDisk: honored,
  awsElasticBlockStore: honored,
  nfs: honored,
  iscsi: honored,
  glusterfs: refused(whyNotMounted('glusterfs')),
  persistentVolumeClaim: honored,
  rbd: refused(whyNotMounted('rbd')),
  flexVolume: honored,
  cinder: honored,
  cephfs: refused(whyNotMounted('cephfs')),
  flocker: refused(whyNotMounted('flocker')),
  fc: honored,
  azureFile: honored,
  vsphereVolume: honored,
  quobyte: refused(whyNotMounted('quobyte')),
  azureDisk: honored,
  photonPersistentDisk: refused(whyNotMounted('photonPersistentDisk')),
  portworxVolume: honored,
  scaleIO: refused(whyNotMounted('scaleIO')),
  storageos: refused(whyNotMounted('storageos')),
  csi: honored,
  ephemeral: honored,
};

const FOR_ATTACHING = 'only the controller that attaches the volume uses it';
/** As in a kubelet, the driver is not told. */
const WRITABLE = 'the CSI driver mounts the volume writable; use readOnly of the volumeMount';

const EBS_VOLUME: RulesOf<AWSElasticBlockStoreVolumeSource> = {
  volumeID: honored,
  fsType: honored,
  partition: honored,
  readOnly: ignored(FOR_ATTACHING),
};

const AZURE_DISK: RulesOf<AzureDiskVolumeSource> = {
  diskName: ignored('the CSI driver finds the disk by its URI'),
  diskURI: honored,
  cachingMode: honored,
  fsType: honored,
  readOnly: ignored(FOR_ATTACHING),
  kind: honored,
};

const AZURE_FILE: RulesOf<AzureFileVolumeSource> = {
  secretName: honored,
  shareName: honored,
  readOnly: ignored(WRITABLE),
};

const CINDER: RulesOf<CinderVolumeSource> = {
  volumeID: honored,
  fsType: honored,
  readOnly: ignored(FOR_ATTACHING),
  secretRef: ignored('the CSI driver has its own credentials'),
};

const VSPHERE_DISK: RulesOf<VsphereVirtualDiskVolumeSource> = {
  volumePath: honored,
  fsType: honored,
  storagePolicyName: honored,
  storagePolicyID: ignored('the CSI driver gets the name of the policy'),
};

const VOLUME_PROJECTION: RulesOf<VolumeProjection> = {
  secret: honored,
  downwardAPI: honored,
  configMap: honored,
  serviceAccountToken: refused('only an API server issues tokens'),
  clusterTrustBundle: refused('only an API server provides trust bundles'),
  podCertificate: refused('only an API server issues certificates'),
};

const NEW_VOLUME = 'drivers create a new volume for the pod, which is not chosen';
const EMPTY_VOLUME = 'drivers create empty volumes';

/** Rules of the claim of an ephemeral volume, whose volume the driver creates with the pod. */
const CLAIM_SPEC: RulesOf<PersistentVolumeClaimSpec> = {
  accessModes: honored,
  selector: refused(NEW_VOLUME),
  resources: honored,
  volumeName: refused(NEW_VOLUME),
  storageClassName: honored,
  volumeMode: refused('drivers create no block devices without an API server', (mode) => mode === 'Block'),
  dataSource: refused(EMPTY_VOLUME),
  dataSourceRef: refused(EMPTY_VOLUME),
  volumeAttributesClassName: honored,
};

const AFFINITY: RulesOf<Affinity> = {
  nodeAffinity: honored,
  podAffinity: ignored(FOR_SCHEDULERS),
  podAntiAffinity: ignored(FOR_SCHEDULERS),
};

const NODE_AFFINITY: RulesOf<NodeAffinity> = {
  requiredDuringSchedulingIgnoredDuringExecution: honored,
  preferredDuringSchedulingIgnoredDuringExecution: ignored(FOR_SCHEDULERS),
};

const POD_OS: RulesOf<PodOS> = {
  name: refused(WINDOWS, (name) => name !== 'linux'),
};

/**
 * Rules of each type of the Pod API, by field; the compiler rejects a table with a missing field. All fields of an
 * object without a table are honored.
 */
export const FIELD_RULES: Readonly<Record<string, Readonly<Record<string, FieldRule>>>> = {
  Pod: POD,
  ObjectMeta: OBJECT_META,
  PodSpec: POD_SPEC,
  Container: CONTAINER,
  Lifecycle: LIFECYCLE,
  EnvVarSource: ENV_VAR_SOURCE,
  ResourceRequirements: RESOURCE_REQUIREMENTS,
  VolumeMount: VOLUME_MOUNT,
  SecurityContext: SECURITY_CONTEXT,
  PodSecurityContext: POD_SECURITY_CONTEXT,
  Volume: VOLUME,
  AWSElasticBlockStoreVolumeSource: EBS_VOLUME,
  AzureDiskVolumeSource: AZURE_DISK,
  AzureFileVolumeSource: AZURE_FILE,
  CinderVolumeSource: CINDER,
  VsphereVirtualDiskVolumeSource: VSPHERE_DISK,
  VolumeProjection: VOLUME_PROJECTION,
  PersistentVolumeClaimSpec: CLAIM_SPEC,
  Affinity: AFFINITY,
  NodeAffinity: NODE_AFFINITY,
  PodOS: POD_OS,
};
