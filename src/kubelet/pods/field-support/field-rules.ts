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
import type {Affinity, NodeAffinity} from '../../../api/types/v1-scheduling.js';
import type {PodSecurityContext, SecurityContext} from '../../../api/types/v1-security.js';
import type {Volume, VolumeProjection} from '../../../api/types/v1-volumes.js';

/** Support of a field of the Pod API. Every field has a rule: none is dropped silently. */
export type FieldRule<Value = never> =
  | {readonly kind: 'honoured'}
  /** The field has no effect, because it has none on any node. */
  | {readonly kind: 'ignored'; readonly reason: string}
  /** The field is an error, for all values or for some. */
  | {
      readonly kind: 'refused';
      readonly reason: string;
      readonly when: (value: Value) => boolean;
    };

type RulesOf<T> = {readonly [Name in keyof T]-?: FieldRule<Exclude<T[Name], undefined>>};

const honoured: FieldRule<unknown> = {kind: 'honoured'};
const ignored = (reason: string): FieldRule<unknown> => ({kind: 'ignored', reason});

function refused<Value>(reason: string, when: (value: Value) => boolean = () => true): FieldRule<Value> {
  return {kind: 'refused', reason, when};
}

const FOR_SCHEDULERS = 'a scheduler reads it before the pod comes to a node';
const OF_THE_API_SERVER = 'the API server keeps it for its own use';
const WINDOWS = 'this is a Linux node';
const DEVICES = 'no device plugins or drivers are asked for devices';
const NOT_ATTACHED = 'volumes of this kind are not attached to the node';
const DELETION = 'a manifest cannot delete its pod; "kcri delete" does';

const POD: RulesOf<Pod> = {
  apiVersion: honoured,
  kind: honoured,
  metadata: honoured,
  spec: honoured,
  status: ignored('the kubelet finds out itself how the pod is'),
};

const OBJECT_META: RulesOf<ObjectMeta> = {
  name: honoured,
  generateName: refused('only an API server makes up names'),
  namespace: honoured,
  selfLink: ignored(OF_THE_API_SERVER),
  uid: honoured,
  resourceVersion: ignored(OF_THE_API_SERVER),
  generation: ignored(OF_THE_API_SERVER),
  creationTimestamp: ignored(OF_THE_API_SERVER),
  deletionTimestamp: refused(DELETION),
  deletionGracePeriodSeconds: refused(DELETION),
  labels: honoured,
  annotations: honoured,
  ownerReferences: ignored('controllers and the garbage collector read it'),
  finalizers: ignored('they hold back the object in the API server, not the pod on its node'),
  managedFields: ignored(OF_THE_API_SERVER),
};

const POD_SPEC: RulesOf<PodSpec> = {
  volumes: honoured,
  initContainers: honoured,
  containers: honoured,
  ephemeralContainers: refused('a kubelet takes none from a manifest, they are added to pods that run'),
  restartPolicy: honoured,
  terminationGracePeriodSeconds: honoured,
  activeDeadlineSeconds: honoured,
  dnsPolicy: honoured,
  nodeSelector: honoured,
  serviceAccountName: ignored('the token comes from admission; the kubelet shows only the name, to fieldRef'),
  serviceAccount: ignored('the old name of serviceAccountName'),
  automountServiceAccountToken: ignored('admission reads it when it adds the token'),
  nodeName: ignored('a manifest runs on the node that reads it'),
  hostNetwork: honoured,
  hostPID: honoured,
  hostIPC: honoured,
  shareProcessNamespace: honoured,
  securityContext: honoured,
  imagePullSecrets: honoured,
  hostname: honoured,
  subdomain: honoured,
  affinity: honoured,
  schedulerName: ignored(FOR_SCHEDULERS),
  tolerations: ignored('the node has no taints to tolerate'),
  hostAliases: honoured,
  priorityClassName: honoured,
  priority: honoured,
  dnsConfig: honoured,
  readinessGates: honoured,
  runtimeClassName: honoured,
  enableServiceLinks: ignored('there are no services to link to'),
  preemptionPolicy: ignored(FOR_SCHEDULERS),
  overhead: honoured,
  topologySpreadConstraints: ignored(FOR_SCHEDULERS),
  setHostnameAsFQDN: honoured,
  os: honoured,
  hostUsers: honoured,
  schedulingGates: refused('nobody lifts them without an API server'),
  resourceClaims: refused(DEVICES),
  resources: honoured,
  hostnameOverride: honoured,
  schedulingGroup: ignored(FOR_SCHEDULERS),
};

const CONTAINER: RulesOf<Container> = {
  name: honoured,
  image: honoured,
  command: honoured,
  args: honoured,
  workingDir: honoured,
  ports: honoured,
  envFrom: honoured,
  env: honoured,
  resources: honoured,
  resizePolicy: honoured,
  restartPolicy: honoured,
  restartPolicyRules: honoured,
  volumeMounts: honoured,
  volumeDevices: refused(NOT_ATTACHED),
  livenessProbe: honoured,
  readinessProbe: honoured,
  startupProbe: honoured,
  lifecycle: honoured,
  terminationMessagePath: honoured,
  terminationMessagePolicy: honoured,
  imagePullPolicy: honoured,
  securityContext: honoured,
  stdin: honoured,
  stdinOnce: honoured,
  tty: honoured,
};

const LIFECYCLE: RulesOf<Lifecycle> = {
  postStart: honoured,
  preStop: honoured,
  stopSignal: ignored("the kubelet's feature gate ContainerStopSignals is off"),
};

const ENV_VAR_SOURCE: RulesOf<EnvVarSource> = {
  fieldRef: honoured,
  resourceFieldRef: honoured,
  configMapKeyRef: honoured,
  secretKeyRef: honoured,
  fileKeyRef: honoured,
};

const RESOURCE_REQUIREMENTS: RulesOf<ResourceRequirements> = {
  // reportUnknownResources warns about devices unknown to the node when the pod is admitted.
  limits: honoured,
  requests: honoured,
  claims: refused(DEVICES),
};

const VOLUME_MOUNT: RulesOf<VolumeMount> = {
  name: honoured,
  readOnly: honoured,
  recursiveReadOnly: honoured,
  mountPath: honoured,
  subPath: honoured,
  mountPropagation: honoured,
  subPathExpr: honoured,
};

const SECURITY_CONTEXT: RulesOf<SecurityContext> = {
  capabilities: honoured,
  privileged: honoured,
  seLinuxOptions: honoured,
  windowsOptions: refused(WINDOWS),
  runAsUser: honoured,
  runAsGroup: honoured,
  runAsNonRoot: honoured,
  readOnlyRootFilesystem: honoured,
  allowPrivilegeEscalation: honoured,
  procMount: honoured,
  seccompProfile: honoured,
  appArmorProfile: honoured,
};

const POD_SECURITY_CONTEXT: RulesOf<PodSecurityContext> = {
  seLinuxOptions: honoured,
  windowsOptions: refused(WINDOWS),
  runAsUser: honoured,
  runAsGroup: honoured,
  runAsNonRoot: honoured,
  supplementalGroups: honoured,
  supplementalGroupsPolicy: honoured,
  fsGroup: honoured,
  sysctls: honoured,
  fsGroupChangePolicy: ignored('it is about volumes that outlive their pod'),
  seccompProfile: honoured,
  appArmorProfile: honoured,
  seLinuxChangePolicy: ignored('the runtime labels emptyDir volumes either way'),
};

const VOLUME: RulesOf<Volume> = {
  name: honoured,
  hostPath: honoured,
  emptyDir: honoured,
  secret: honoured,
  configMap: honoured,
  downwardAPI: honoured,
  projected: honoured,
  image: honoured,
  gitRepo: refused('Kubernetes has switched off gitRepo volumes'),
  gcePersistentDisk: refused(NOT_ATTACHED),
  awsElasticBlockStore: refused(NOT_ATTACHED),
  nfs: refused(NOT_ATTACHED),
  iscsi: refused(NOT_ATTACHED),
  glusterfs: refused(NOT_ATTACHED),
  persistentVolumeClaim: refused(NOT_ATTACHED),
  rbd: refused(NOT_ATTACHED),
  flexVolume: refused(NOT_ATTACHED),
  cinder: refused(NOT_ATTACHED),
  cephfs: refused(NOT_ATTACHED),
  flocker: refused(NOT_ATTACHED),
  fc: refused(NOT_ATTACHED),
  azureFile: refused(NOT_ATTACHED),
  vsphereVolume: refused(NOT_ATTACHED),
  quobyte: refused(NOT_ATTACHED),
  azureDisk: refused(NOT_ATTACHED),
  photonPersistentDisk: refused(NOT_ATTACHED),
  portworxVolume: refused(NOT_ATTACHED),
  scaleIO: refused(NOT_ATTACHED),
  storageos: refused(NOT_ATTACHED),
  csi: refused(NOT_ATTACHED),
  ephemeral: refused(NOT_ATTACHED),
};

const VOLUME_PROJECTION: RulesOf<VolumeProjection> = {
  secret: honoured,
  downwardAPI: honoured,
  configMap: honoured,
  serviceAccountToken: refused('only an API server gives tokens'),
  clusterTrustBundle: refused('only an API server has trust bundles'),
  podCertificate: refused('only an API server gives certificates'),
};

const AFFINITY: RulesOf<Affinity> = {
  nodeAffinity: honoured,
  podAffinity: ignored(FOR_SCHEDULERS),
  podAntiAffinity: ignored(FOR_SCHEDULERS),
};

const NODE_AFFINITY: RulesOf<NodeAffinity> = {
  requiredDuringSchedulingIgnoredDuringExecution: honoured,
  preferredDuringSchedulingIgnoredDuringExecution: ignored(FOR_SCHEDULERS),
};

const POD_OS: RulesOf<PodOS> = {
  name: refused(WINDOWS, (name) => name !== 'linux'),
};

/**
 * Rules of each type of the Pod API, by field; the compiler rejects a table with a missing field. All fields of an
 * object without a table are honoured.
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
  VolumeProjection: VOLUME_PROJECTION,
  Affinity: AFFINITY,
  NodeAffinity: NODE_AFFINITY,
  PodOS: POD_OS,
};
