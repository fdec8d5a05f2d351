import type {
  ConfigMapEnvSource,
  Container,
  ContainerPort,
  ContainerResizePolicy,
  ContainerRestartRule,
  ContainerRestartRuleOnExitCodes,
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  EphemeralContainer,
  ExecAction,
  GRPCAction,
  HTTPGetAction,
  HTTPHeader,
  HostAlias,
  Lifecycle,
  LifecycleHandler,
  Pod,
  PodDNSConfig,
  PodDNSConfigOption,
  PodOS,
  PodReadinessGate,
  PodResourceClaim,
  PodSpec,
  Probe,
  ProbeHandler,
  SecretEnvSource,
  SleepAction,
  TCPSocketAction,
  VolumeDevice,
  VolumeMount,
} from '../types/v1-pod.js';
import {
  bool,
  enumeration,
  int32,
  int64,
  intOrString,
  list,
  map,
  object,
  objectSchema,
  quantity,
  required,
  text,
} from './object-schema.js';
import {localObjectReference, objectMeta, resourceRequirements} from './schema-meta.js';
import {
  affinity,
  podSchedulingGate,
  podSchedulingGroup,
  toleration,
  topologySpreadConstraint,
} from './schema-scheduling.js';
import {podSecurityContext, securityContext} from './schema-security.js';
import {
  configMapKeySelector,
  fileKeySelector,
  objectFieldSelector,
  resourceFieldSelector,
  secretKeySelector,
} from './schema-selectors.js';
import {podStatus} from './schema-status.js';
import {volume} from './schema-volumes.js';
import {
  CONTAINER_RESTART_POLICIES,
  DNS_POLICIES,
  EXIT_CODE_OPERATORS,
  MOUNT_PROPAGATION_MODES,
  OS_NAMES,
  PREEMPTION_POLICIES,
  PROTOCOLS,
  RESIZE_RESTART_POLICIES,
  RESTART_POLICIES,
  RESTART_RULE_ACTIONS,
  TERMINATION_MESSAGE_POLICIES,
  URI_SCHEMES,
} from '../types/v1-pod.js';
import {PULL_POLICIES, RECURSIVE_READ_ONLY_MODES} from '../types/v1-meta.js';

// The fields of the types in v1.ts, in upstream's order.

export const containerPort = objectSchema<ContainerPort>('ContainerPort', {
  name: text,
  hostPort: int32,
  containerPort: required(int32),
  protocol: enumeration(PROTOCOLS),
  hostIP: text,
});

export const configMapEnvSource = objectSchema<ConfigMapEnvSource>('ConfigMapEnvSource', {
  ...localObjectReference.fields,
  optional: bool,
});

export const secretEnvSource = objectSchema<SecretEnvSource>('SecretEnvSource', {
  ...localObjectReference.fields,
  optional: bool,
});

export const envFromSource = objectSchema<EnvFromSource>('EnvFromSource', {
  prefix: text,
  configMapRef: object(configMapEnvSource),
  secretRef: object(secretEnvSource),
});

export const envVarSource = objectSchema<EnvVarSource>('EnvVarSource', {
  fieldRef: object(objectFieldSelector),
  resourceFieldRef: object(resourceFieldSelector),
  configMapKeyRef: object(configMapKeySelector),
  secretKeyRef: object(secretKeySelector),
  fileKeyRef: object(fileKeySelector),
});

export const envVar = objectSchema<EnvVar>('EnvVar', {
  name: required(text),
  value: text,
  valueFrom: object(envVarSource),
});

export const containerResizePolicy = objectSchema<ContainerResizePolicy>('ContainerResizePolicy', {
  resourceName: required(text),
  restartPolicy: required(enumeration(RESIZE_RESTART_POLICIES)),
});

export const containerRestartRuleOnExitCodes = objectSchema<ContainerRestartRuleOnExitCodes>(
  'ContainerRestartRuleOnExitCodes',
  {
    operator: enumeration(EXIT_CODE_OPERATORS),
    values: list(int32),
  },
);

export const containerRestartRule = objectSchema<ContainerRestartRule>('ContainerRestartRule', {
  action: enumeration(RESTART_RULE_ACTIONS),
  exitCodes: object(containerRestartRuleOnExitCodes),
});

export const volumeMount = objectSchema<VolumeMount>('VolumeMount', {
  name: required(text),
  readOnly: bool,
  recursiveReadOnly: enumeration(RECURSIVE_READ_ONLY_MODES),
  mountPath: required(text),
  subPath: text,
  mountPropagation: enumeration(MOUNT_PROPAGATION_MODES),
  subPathExpr: text,
});

export const volumeDevice = objectSchema<VolumeDevice>('VolumeDevice', {
  name: required(text),
  devicePath: required(text),
});

export const execAction = objectSchema<ExecAction>('ExecAction', {
  command: list(text),
});

export const httpHeader = objectSchema<HTTPHeader>('HTTPHeader', {
  name: required(text),
  value: required(text),
});

export const httpGetAction = objectSchema<HTTPGetAction>('HTTPGetAction', {
  path: text,
  port: required(intOrString),
  host: text,
  scheme: enumeration(URI_SCHEMES),
  httpHeaders: list(object(httpHeader)),
});

export const tcpSocketAction = objectSchema<TCPSocketAction>('TCPSocketAction', {
  port: required(intOrString),
  host: text,
});

export const grpcAction = objectSchema<GRPCAction>('GRPCAction', {
  port: required(int32),
  service: text,
});

export const sleepAction = objectSchema<SleepAction>('SleepAction', {
  seconds: required(int64),
});

export const probeHandler = objectSchema<ProbeHandler>('ProbeHandler', {
  exec: object(execAction),
  httpGet: object(httpGetAction),
  tcpSocket: object(tcpSocketAction),
  grpc: object(grpcAction),
});

export const probe = objectSchema<Probe>('Probe', {
  ...probeHandler.fields,
  initialDelaySeconds: int32,
  timeoutSeconds: int32,
  periodSeconds: int32,
  successThreshold: int32,
  failureThreshold: int32,
  terminationGracePeriodSeconds: int64,
});

export const lifecycleHandler = objectSchema<LifecycleHandler>('LifecycleHandler', {
  exec: object(execAction),
  httpGet: object(httpGetAction),
  tcpSocket: object(tcpSocketAction),
  sleep: object(sleepAction),
});

export const lifecycle = objectSchema<Lifecycle>('Lifecycle', {
  postStart: object(lifecycleHandler),
  preStop: object(lifecycleHandler),
  stopSignal: text,
});

export const container = objectSchema<Container>('Container', {
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

export const ephemeralContainer = objectSchema<EphemeralContainer>('EphemeralContainer', {
  ...container.fields,
  targetContainerName: text,
});

export const hostAlias = objectSchema<HostAlias>('HostAlias', {
  ip: required(text),
  hostnames: list(text),
});

export const podDNSConfigOption = objectSchema<PodDNSConfigOption>('PodDNSConfigOption', {
  name: text,
  value: text,
});

export const podDNSConfig = objectSchema<PodDNSConfig>('PodDNSConfig', {
  nameservers: list(text),
  searches: list(text),
  options: list(object(podDNSConfigOption)),
});

export const podReadinessGate = objectSchema<PodReadinessGate>('PodReadinessGate', {
  conditionType: required(text),
});

export const podOS = objectSchema<PodOS>('PodOS', {
  name: required(enumeration(OS_NAMES)),
});

export const podResourceClaim = objectSchema<PodResourceClaim>('PodResourceClaim', {
  name: required(text),
  resourceClaimName: text,
  resourceClaimTemplateName: text,
});

export const podSpec = objectSchema<PodSpec>('PodSpec', {
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

export const pod = objectSchema<Pod>('Pod', {
  apiVersion: required(enumeration(['v1'])),
  kind: required(enumeration(['Pod'])),
  metadata: required(object(objectMeta)),
  spec: required(object(podSpec)),
  status: object(podStatus),
});
