import {
  type Described,
  bool,
  enumeration,
  int32,
  int64,
  intOrString,
  list,
  map,
  object,
  quantity,
  required,
  schemaOf,
  text,
} from '../schema/object-schema.js';
import {
  PULL_POLICIES,
  RECURSIVE_READ_ONLY_MODES,
  localObjectReference,
  objectMeta,
  resourceRequirements,
} from './v1-meta.js';
import {
  affinity,
  podSchedulingGate,
  podSchedulingGroup,
  toleration,
  topologySpreadConstraint,
} from './v1-scheduling.js';
import {podSecurityContext, securityContext} from './v1-security.js';
import {
  configMapKeySelector,
  fileKeySelector,
  objectFieldSelector,
  resourceFieldSelector,
  secretKeySelector,
} from './v1-selectors.js';
import {podStatus} from './v1-status.js';
import {volume} from './v1-volumes.js';

/** Transport protocols of ports. */
export const PROTOCOLS = ['SCTP', 'TCP', 'UDP'] as const;

/** Effects of a resize on the container. */
export const RESIZE_RESTART_POLICIES = ['NotRequired', 'RestartContainer'] as const;
export type ResourceResizeRestartPolicy = (typeof RESIZE_RESTART_POLICIES)[number];

/** Operators to compare exit codes. */
export const EXIT_CODE_OPERATORS = ['In', 'NotIn'] as const;

/** Actions of a restart rule. */
export const RESTART_RULE_ACTIONS = ['Restart', 'RestartAllContainers'] as const;

/** Directions in which later mounts propagate. */
export const MOUNT_PROPAGATION_MODES = ['Bidirectional', 'HostToContainer', 'None'] as const;
export type MountPropagationMode = (typeof MOUNT_PROPAGATION_MODES)[number];

/** Schemes of HTTP requests. */
export const URI_SCHEMES = ['HTTP', 'HTTPS'] as const;

/** Restart policies of a single container. */
export const CONTAINER_RESTART_POLICIES = ['Always', 'Never', 'OnFailure'] as const;
export type ContainerRestartPolicy = (typeof CONTAINER_RESTART_POLICIES)[number];

/** Sources of a container's termination message. */
export const TERMINATION_MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'] as const;

/** Operating systems. */
export const OS_NAMES = ['linux', 'windows'] as const;

/** Restart policies of a pod. */
export const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'] as const;
export type RestartPolicy = (typeof RESTART_POLICIES)[number];

/** Sources of the pod's resolv.conf. */
export const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'] as const;

/** Policies for preempting other pods. */
export const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'] as const;

/** A port that a container listens on. */
export interface ContainerPort extends Described<typeof containerPort> {}
export const containerPort = schemaOf<ContainerPort>('ContainerPort')({
  name: text,
  hostPort: int32,
  containerPort: required(int32),
  protocol: enumeration(PROTOCOLS),
  hostIP: text,
});

/** All keys of a ConfigMap as environment variables. */
export interface ConfigMapEnvSource extends Described<typeof configMapEnvSource> {}
export const configMapEnvSource = schemaOf<ConfigMapEnvSource>('ConfigMapEnvSource')({
  ...localObjectReference.fields,
  optional: bool,
});

/** All keys of a Secret as environment variables. */
export interface SecretEnvSource extends Described<typeof secretEnvSource> {}
export const secretEnvSource = schemaOf<SecretEnvSource>('SecretEnvSource')({
  ...localObjectReference.fields,
  optional: bool,
});

/** Source of a set of environment variables; one reference is set. */
export interface EnvFromSource extends Described<typeof envFromSource> {}
export const envFromSource = schemaOf<EnvFromSource>('EnvFromSource')({
  prefix: text,
  configMapRef: object(configMapEnvSource),
  secretRef: object(secretEnvSource),
});

/** Source of the value of one environment variable; exactly one field is set. */
export interface EnvVarSource extends Described<typeof envVarSource> {}
export const envVarSource = schemaOf<EnvVarSource>('EnvVarSource')({
  fieldRef: object(objectFieldSelector),
  resourceFieldRef: object(resourceFieldSelector),
  configMapKeyRef: object(configMapKeySelector),
  secretKeyRef: object(secretKeySelector),
  fileKeyRef: object(fileKeySelector),
});

/** An environment variable: a literal value (with `$(NAME)` expansion) or a source. */
export interface EnvVar extends Described<typeof envVar> {}
export const envVar = schemaOf<EnvVar>('EnvVar')({
  name: required(text),
  value: text,
  valueFrom: object(envVarSource),
});

/** Effect of resizing a resource on its container. */
export interface ContainerResizePolicy extends Described<typeof containerResizePolicy> {}
export const containerResizePolicy = schemaOf<ContainerResizePolicy>('ContainerResizePolicy')({
  resourceName: required(text),
  restartPolicy: required(enumeration(RESIZE_RESTART_POLICIES)),
});

/** Exit codes that a restart rule matches. */
export interface ContainerRestartRuleOnExitCodes extends Described<typeof containerRestartRuleOnExitCodes> {}
export const containerRestartRuleOnExitCodes = schemaOf<ContainerRestartRuleOnExitCodes>(
  'ContainerRestartRuleOnExitCodes',
)({
  operator: enumeration(EXIT_CODE_OPERATORS),
  values: list(int32),
});

/** Action for a matching exit of the container; the first matching rule applies. */
export interface ContainerRestartRule extends Described<typeof containerRestartRule> {}
export const containerRestartRule = schemaOf<ContainerRestartRule>('ContainerRestartRule')({
  action: enumeration(RESTART_RULE_ACTIONS),
  exitCodes: object(containerRestartRuleOnExitCodes),
});

/** Mount of a volume in a container. */
export interface VolumeMount extends Described<typeof volumeMount> {}
export const volumeMount = schemaOf<VolumeMount>('VolumeMount')({
  name: required(text),
  readOnly: bool,
  recursiveReadOnly: enumeration(RECURSIVE_READ_ONLY_MODES),
  mountPath: required(text),
  subPath: text,
  mountPropagation: enumeration(MOUNT_PROPAGATION_MODES),
  subPathExpr: text,
});

/** Raw block device in a container. */
export interface VolumeDevice extends Described<typeof volumeDevice> {}
export const volumeDevice = schemaOf<VolumeDevice>('VolumeDevice')({
  name: required(text),
  devicePath: required(text),
});

/** A command that runs in the container, without a shell. */
export interface ExecAction extends Described<typeof execAction> {}
export const execAction = schemaOf<ExecAction>('ExecAction')({
  command: list(text),
});

/** A header of a probe's or hook's request. */
export interface HTTPHeader extends Described<typeof httpHeader> {}
export const httpHeader = schemaOf<HTTPHeader>('HTTPHeader')({
  name: required(text),
  value: required(text),
});

/** An HTTP GET to the container. */
export interface HTTPGetAction extends Described<typeof httpGetAction> {}
export const httpGetAction = schemaOf<HTTPGetAction>('HTTPGetAction')({
  path: text,
  port: required(intOrString),
  host: text,
  scheme: enumeration(URI_SCHEMES),
  httpHeaders: list(object(httpHeader)),
});

/** A TCP connection to the container. */
export interface TCPSocketAction extends Described<typeof tcpSocketAction> {}
export const tcpSocketAction = schemaOf<TCPSocketAction>('TCPSocketAction')({
  port: required(intOrString),
  host: text,
});

/** A call of the gRPC health service in the container. */
export interface GRPCAction extends Described<typeof grpcAction> {}
export const grpcAction = schemaOf<GRPCAction>('GRPCAction')({
  port: required(int32),
  service: text,
});

/** A pause. */
export interface SleepAction extends Described<typeof sleepAction> {}
export const sleepAction = schemaOf<SleepAction>('SleepAction')({
  seconds: required(int64),
});

/** Handler of a probe; exactly one field is set. */
export interface ProbeHandler extends Described<typeof probeHandler> {}
export const probeHandler = schemaOf<ProbeHandler>('ProbeHandler')({
  exec: object(execAction),
  httpGet: object(httpGetAction),
  tcpSocket: object(tcpSocketAction),
  grpc: object(grpcAction),
});

/** A periodic check of a container; times are in seconds. */
export interface Probe extends Described<typeof probe> {}
export const probe = schemaOf<Probe>('Probe')({
  ...probeHandler.fields,
  initialDelaySeconds: int32,
  timeoutSeconds: int32,
  periodSeconds: int32,
  successThreshold: int32,
  failureThreshold: int32,
  terminationGracePeriodSeconds: int64,
});

/** Handler of a lifecycle hook; exactly one field is set. */
export interface LifecycleHandler extends Described<typeof lifecycleHandler> {}
export const lifecycleHandler = schemaOf<LifecycleHandler>('LifecycleHandler')({
  exec: object(execAction),
  httpGet: object(httpGetAction),
  tcpSocket: object(tcpSocketAction),
  sleep: object(sleepAction),
});

/** Hooks that run after a container starts and before it stops. */
export interface Lifecycle extends Described<typeof lifecycle> {}
export const lifecycle = schemaOf<Lifecycle>('Lifecycle')({
  postStart: object(lifecycleHandler),
  preStop: object(lifecycleHandler),
  stopSignal: text,
});

/** One container of a pod. */
export interface Container extends Described<typeof container> {}
export const container = schemaOf<Container>('Container')({
  name: required(text),
  image: required(text),
  command: list(text),
  args: list(text),
  workingDir: text,
  ports: list(object(containerPort)),
  envFrom: list(object(envFromSource)),
  env: list(object(envVar)),
  resources: object(resourceRequirements),
  resizePolicy: list(object(containerResizePolicy)),
  restartPolicy: enumeration(CONTAINER_RESTART_POLICIES),
  restartPolicyRules: list(object(containerRestartRule)),
  volumeMounts: list(object(volumeMount)),
  volumeDevices: list(object(volumeDevice)),
  livenessProbe: object(probe),
  readinessProbe: object(probe),
  startupProbe: object(probe),
  lifecycle: object(lifecycle),
  terminationMessagePath: text,
  terminationMessagePolicy: enumeration(TERMINATION_MESSAGE_POLICIES),
  imagePullPolicy: enumeration(PULL_POLICIES),
  securityContext: object(securityContext),
  stdin: bool,
  stdinOnce: bool,
  tty: bool,
});

/** A container added to a running pod for debugging. */
export interface EphemeralContainer extends Described<typeof ephemeralContainer> {}
export const ephemeralContainer = schemaOf<EphemeralContainer>('EphemeralContainer')({
  ...container.fields,
  targetContainerName: text,
});

/** A line of the pod's /etc/hosts. */
export interface HostAlias extends Described<typeof hostAlias> {}
export const hostAlias = schemaOf<HostAlias>('HostAlias')({
  ip: required(text),
  hostnames: list(text),
});

/** An option of resolv.conf, with or without a value. */
export interface PodDNSConfigOption extends Described<typeof podDNSConfigOption> {}
export const podDNSConfigOption = schemaOf<PodDNSConfigOption>('PodDNSConfigOption')({
  name: text,
  value: text,
});

/** Additions to the resolv.conf of `dnsPolicy`. */
export interface PodDNSConfig extends Described<typeof podDNSConfig> {}
export const podDNSConfig = schemaOf<PodDNSConfig>('PodDNSConfig')({
  nameservers: list(text),
  searches: list(text),
  options: list(object(podDNSConfigOption)),
});

/** A condition that must be true before the pod counts as ready. */
export interface PodReadinessGate extends Described<typeof podReadinessGate> {}
export const podReadinessGate = schemaOf<PodReadinessGate>('PodReadinessGate')({
  conditionType: required(text),
});

/** Operating system of the pod. */
export interface PodOS extends Described<typeof podOS> {}
export const podOS = schemaOf<PodOS>('PodOS')({
  name: required(enumeration(OS_NAMES)),
});

/** A claim for devices that the pod's containers may use. */
export interface PodResourceClaim extends Described<typeof podResourceClaim> {}
export const podResourceClaim = schemaOf<PodResourceClaim>('PodResourceClaim')({
  name: required(text),
  resourceClaimName: text,
  resourceClaimTemplateName: text,
});

/** Desired state of a pod. */
export interface PodSpec extends Described<typeof podSpec> {}
export const podSpec = schemaOf<PodSpec>('PodSpec')({
  volumes: list(object(volume)),
  initContainers: list(object(container)),
  containers: required(list(object(container))),
  ephemeralContainers: list(object(ephemeralContainer)),
  restartPolicy: enumeration(RESTART_POLICIES),
  terminationGracePeriodSeconds: int64,
  activeDeadlineSeconds: int64,
  dnsPolicy: enumeration(DNS_POLICIES),
  nodeSelector: map(text),
  serviceAccountName: text,
  serviceAccount: text,
  automountServiceAccountToken: bool,
  nodeName: text,
  hostNetwork: bool,
  hostPID: bool,
  hostIPC: bool,
  shareProcessNamespace: bool,
  securityContext: object(podSecurityContext),
  imagePullSecrets: list(object(localObjectReference)),
  hostname: text,
  subdomain: text,
  affinity: object(affinity),
  schedulerName: text,
  tolerations: list(object(toleration)),
  hostAliases: list(object(hostAlias)),
  priorityClassName: text,
  priority: int32,
  dnsConfig: object(podDNSConfig),
  readinessGates: list(object(podReadinessGate)),
  runtimeClassName: text,
  enableServiceLinks: bool,
  preemptionPolicy: enumeration(PREEMPTION_POLICIES),
  overhead: map(quantity),
  topologySpreadConstraints: list(object(topologySpreadConstraint)),
  setHostnameAsFQDN: bool,
  os: object(podOS),
  hostUsers: bool,
  schedulingGates: list(object(podSchedulingGate)),
  resourceClaims: list(object(podResourceClaim)),
  resources: object(resourceRequirements),
  hostnameOverride: text,
  schedulingGroup: object(podSchedulingGroup),
});

/** A group of containers that share a network and volumes (core/v1 Pod as of Kubernetes 1.36). */
export interface Pod extends Described<typeof pod> {}
export const pod = schemaOf<Pod>('Pod')({
  apiVersion: required(enumeration(['v1'])),
  kind: required(enumeration(['Pod'])),
  metadata: required(object(objectMeta)),
  spec: required(object(podSpec)),
  status: object(podStatus),
});
