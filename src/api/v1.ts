import type {Container, EphemeralContainer} from './v1-container.js';
import type {LocalObjectReference, ObjectMeta, ResourceList, ResourceRequirements} from './v1-meta.js';
import type {
  Affinity,
  PodSchedulingGate,
  PodSchedulingGroup,
  Toleration,
  TopologySpreadConstraint,
} from './v1-scheduling.js';
import type {PodSecurityContext} from './v1-security.js';
import type {PodStatus} from './v1-status.js';
import type {Volume} from './v1-volumes.js';

/** Operating systems. */
export const OS_NAMES = ['linux', 'windows'] as const;
export type OSName = (typeof OS_NAMES)[number];

/** When the pod's containers are started again. */
export const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'] as const;
export type RestartPolicy = (typeof RESTART_POLICIES)[number];

/** Where the pod's resolv.conf comes from. */
export const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'] as const;
export type DNSPolicy = (typeof DNS_POLICIES)[number];

/** Whether the pod may push out others. */
export const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'] as const;
export type PreemptionPolicy = (typeof PREEMPTION_POLICIES)[number];

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

/** What is added to the resolv.conf that `dnsPolicy` makes. */
export interface PodDNSConfig {
  readonly nameservers?: readonly string[];
  readonly searches?: readonly string[];
  readonly options?: readonly PodDNSConfigOption[];
}

/** A condition that must be true before the pod counts as ready. */
export interface PodReadinessGate {
  readonly conditionType: string;
}

/** The operating system that the pod is made for. */
export interface PodOS {
  readonly name: OSName;
}

/** A claim for devices that the pod's containers may use. */
export interface PodResourceClaim {
  readonly name: string;
  readonly resourceClaimName?: string;
  readonly resourceClaimTemplateName?: string;
}

/** What the pod should be. */
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

/** A group of containers that share a network and volumes: core/v1 Pod as of Kubernetes 1.36. */
export interface Pod {
  readonly apiVersion: 'v1';
  readonly kind: 'Pod';
  readonly metadata: ObjectMeta;
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}
