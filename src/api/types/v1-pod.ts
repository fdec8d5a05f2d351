import type {
  IntOrString,
  LocalObjectReference,
  ObjectMeta,
  PullPolicy,
  RecursiveReadOnlyMode,
  ResourceList,
  ResourceRequirements,
} from './v1-meta.js';
import type {
  Affinity,
  PodSchedulingGate,
  PodSchedulingGroup,
  Toleration,
  TopologySpreadConstraint,
} from './v1-scheduling.js';
import type {PodSecurityContext, SecurityContext} from './v1-security.js';
import type {
  ConfigMapKeySelector,
  FileKeySelector,
  ObjectFieldSelector,
  ResourceFieldSelector,
  SecretKeySelector,
} from './v1-selectors.js';
import type {PodStatus} from './v1-status.js';
import type {Volume} from './v1-volumes.js';

/** Transport protocols of ports. */
export const PROTOCOLS = ['SCTP', 'TCP', 'UDP'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** Effects of a resize on the container. */
export const RESIZE_RESTART_POLICIES = ['NotRequired', 'RestartContainer'] as const;
export type ResourceResizeRestartPolicy = (typeof RESIZE_RESTART_POLICIES)[number];

/** Operators to compare exit codes. */
export const EXIT_CODE_OPERATORS = ['In', 'NotIn'] as const;
export type ContainerRestartRuleOnExitCodesOperator = (typeof EXIT_CODE_OPERATORS)[number];

/** Actions of a restart rule. */
export const RESTART_RULE_ACTIONS = ['Restart', 'RestartAllContainers'] as const;
export type ContainerRestartRuleAction = (typeof RESTART_RULE_ACTIONS)[number];

/** Directions in which later mounts propagate. */
export const MOUNT_PROPAGATION_MODES = ['Bidirectional', 'HostToContainer', 'None'] as const;
export type MountPropagationMode = (typeof MOUNT_PROPAGATION_MODES)[number];

/** Schemes of HTTP requests. */
export const URI_SCHEMES = ['HTTP', 'HTTPS'] as const;
export type URIScheme = (typeof URI_SCHEMES)[number];

/** Restart policies of a single container. */
export const CONTAINER_RESTART_POLICIES = ['Always', 'Never', 'OnFailure'] as const;
export type ContainerRestartPolicy = (typeof CONTAINER_RESTART_POLICIES)[number];

/** Sources of a container's termination message. */
export const TERMINATION_MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'] as const;
export type TerminationMessagePolicy = (typeof TERMINATION_MESSAGE_POLICIES)[number];

/** Operating systems. */
export const OS_NAMES = ['linux', 'windows'] as const;
export type OSName = (typeof OS_NAMES)[number];

/** Restart policies of a pod. */
export const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'] as const;
export type RestartPolicy = (typeof RESTART_POLICIES)[number];

/** Sources of the pod's resolv.conf. */
export const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'] as const;
export type DNSPolicy = (typeof DNS_POLICIES)[number];

/** Policies for preempting other pods. */
export const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'] as const;
export type PreemptionPolicy = (typeof PREEMPTION_POLICIES)[number];

/** A port that a container listens on. */
export interface ContainerPort {
  readonly name?: string;
  readonly hostPort?: number;
  readonly containerPort: number;
  readonly protocol?: Protocol;
  readonly hostIP?: string;
}

/** All keys of a ConfigMap as environment variables. */
export interface ConfigMapEnvSource extends LocalObjectReference {
  readonly optional?: boolean;
}

/** All keys of a Secret as environment variables. */
export interface SecretEnvSource extends LocalObjectReference {
  readonly optional?: boolean;
}

/** Source of a set of environment variables; one reference is set. */
export interface EnvFromSource {
  readonly prefix?: string;
  readonly configMapRef?: ConfigMapEnvSource;
  readonly secretRef?: SecretEnvSource;
}

/** Source of the value of one environment variable; exactly one field is set. */
export interface EnvVarSource {
  readonly fieldRef?: ObjectFieldSelector;
  readonly resourceFieldRef?: ResourceFieldSelector;
  readonly configMapKeyRef?: ConfigMapKeySelector;
  readonly secretKeyRef?: SecretKeySelector;
  readonly fileKeyRef?: FileKeySelector;
}

/** An environment variable: a literal value (with `$(NAME)` expansion) or a source. */
export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: EnvVarSource;
}

/** Effect of resizing a resource on its container. */
export interface ContainerResizePolicy {
  readonly resourceName: string;
  readonly restartPolicy: ResourceResizeRestartPolicy;
}

/** Exit codes that a restart rule matches. */
export interface ContainerRestartRuleOnExitCodes {
  readonly operator?: ContainerRestartRuleOnExitCodesOperator;
  readonly values?: readonly number[];
}

/** Action for a matching exit of the container; the first matching rule applies. */
export interface ContainerRestartRule {
  readonly action?: ContainerRestartRuleAction;
  readonly exitCodes?: ContainerRestartRuleOnExitCodes;
}

/** Mount of a volume in a container. */
export interface VolumeMount {
  readonly name: string;
  readonly readOnly?: boolean;
  readonly recursiveReadOnly?: RecursiveReadOnlyMode;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly mountPropagation?: MountPropagationMode;
  readonly subPathExpr?: string;
}

/** Raw block device in a container. */
export interface VolumeDevice {
  readonly name: string;
  readonly devicePath: string;
}

/** A command that runs in the container, without a shell. */
export interface ExecAction {
  readonly command?: readonly string[];
}

/** A header of a probe's or hook's request. */
export interface HTTPHeader {
  readonly name: string;
  readonly value: string;
}

/** An HTTP GET to the container. */
export interface HTTPGetAction {
  readonly path?: string;
  readonly port: IntOrString;
  readonly host?: string;
  readonly scheme?: URIScheme;
  readonly httpHeaders?: readonly HTTPHeader[];
}

/** A TCP connection to the container. */
export interface TCPSocketAction {
  readonly port: IntOrString;
  readonly host?: string;
}

/** A call of the gRPC health service in the container. */
export interface GRPCAction {
  readonly port: number;
  readonly service?: string;
}

/** A pause. */
export interface SleepAction {
  readonly seconds: number;
}

/** Handler of a probe; exactly one field is set. */
export interface ProbeHandler {
  readonly exec?: ExecAction;
  readonly httpGet?: HTTPGetAction;
  readonly tcpSocket?: TCPSocketAction;
  readonly grpc?: GRPCAction;
}

/** A periodic check of a container; times are in seconds. */
export interface Probe extends ProbeHandler {
  readonly initialDelaySeconds?: number;
  readonly timeoutSeconds?: number;
  readonly periodSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
  readonly terminationGracePeriodSeconds?: number;
}

/** Handler of a lifecycle hook; exactly one field is set. */
export interface LifecycleHandler {
  readonly exec?: ExecAction;
  readonly httpGet?: HTTPGetAction;
  readonly tcpSocket?: TCPSocketAction;
  readonly sleep?: SleepAction;
}

/** Hooks that run after a container starts and before it stops. */
export interface Lifecycle {
  readonly postStart?: LifecycleHandler;
  readonly preStop?: LifecycleHandler;
  readonly stopSignal?: string;
}

/** One container of a pod. */
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly ports?: readonly ContainerPort[];
  readonly envFrom?: readonly EnvFromSource[];
  readonly env?: readonly EnvVar[];
  readonly resources?: ResourceRequirements;
  readonly resizePolicy?: readonly ContainerResizePolicy[];
  readonly restartPolicy?: ContainerRestartPolicy;
  readonly restartPolicyRules?: readonly ContainerRestartRule[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly volumeDevices?: readonly VolumeDevice[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: Lifecycle;
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: TerminationMessagePolicy;
  readonly imagePullPolicy?: PullPolicy;
  readonly securityContext?: SecurityContext;
  readonly stdin?: boolean;
  readonly stdinOnce?: boolean;
  readonly tty?: boolean;
}

/** A container added to a running pod for debugging. */
export interface EphemeralContainer extends Container {
  readonly targetContainerName?: string;
}

/** A line of the pod's /etc/hosts. */
export interface HostAlias {
  readonly ip: string;
  readonly hostnames?: readonly string[];
}

/** An option of resolv.conf, with or without a value. */
export interface PodDNSConfigOption {
  readonly name?: string;
  readonly value?: string;
}

/** Additions to the resolv.conf of `dnsPolicy`. */
export interface PodDNSConfig {
  readonly nameservers?: readonly string[];
  readonly searches?: readonly string[];
  readonly options?: readonly PodDNSConfigOption[];
}

/** A condition that must be true before the pod counts as ready. */
export interface PodReadinessGate {
  readonly conditionType: string;
}

/** Operating system of the pod. */
export interface PodOS {
  readonly name: OSName;
}

/** A claim for devices that the pod's containers may use. */
export interface PodResourceClaim {
  readonly name: string;
  readonly resourceClaimName?: string;
  readonly resourceClaimTemplateName?: string;
}

/** Desired state of a pod. */
export interface PodSpec {
  readonly volumes?: readonly Volume[];
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly ephemeralContainers?: readonly EphemeralContainer[];
  readonly restartPolicy?: RestartPolicy;
  readonly terminationGracePeriodSeconds?: number;
  readonly activeDeadlineSeconds?: number;
  readonly dnsPolicy?: DNSPolicy;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly serviceAccountName?: string;
  readonly serviceAccount?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly nodeName?: string;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly shareProcessNamespace?: boolean;
  readonly securityContext?: PodSecurityContext;
  readonly imagePullSecrets?: readonly LocalObjectReference[];
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly affinity?: Affinity;
  readonly schedulerName?: string;
  readonly tolerations?: readonly Toleration[];
  readonly hostAliases?: readonly HostAlias[];
  readonly priorityClassName?: string;
  readonly priority?: number;
  readonly dnsConfig?: PodDNSConfig;
  readonly readinessGates?: readonly PodReadinessGate[];
  readonly runtimeClassName?: string;
  readonly enableServiceLinks?: boolean;
  readonly preemptionPolicy?: PreemptionPolicy;
  readonly overhead?: ResourceList;
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[];
  readonly setHostnameAsFQDN?: boolean;
  readonly os?: PodOS;
  readonly hostUsers?: boolean;
  readonly schedulingGates?: readonly PodSchedulingGate[];
  readonly resourceClaims?: readonly PodResourceClaim[];
  readonly resources?: ResourceRequirements;
  readonly hostnameOverride?: string;
  readonly schedulingGroup?: PodSchedulingGroup;
}

/** A group of containers that share a network and volumes (core/v1 Pod as of Kubernetes 1.36). */
export interface Pod {
  readonly apiVersion: 'v1';
  readonly kind: 'Pod';
  readonly metadata: ObjectMeta;
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}
