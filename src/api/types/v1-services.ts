import type {IntOrString, ObjectMeta} from './v1-meta.js';
import type {Protocol} from './v1-pod.js';

/** Types of Services. */
export const SERVICE_TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'] as const;
export type ServiceType = (typeof SERVICE_TYPES)[number];

/** Port of a Service. */
export interface ServicePort {
  readonly name?: string;
  readonly protocol?: Protocol;
  readonly appProtocol?: string;
  readonly port: number;
  /** Port of the pods, or the name of a container port; `port` by default. */
  readonly targetPort?: IntOrString;
  readonly nodePort?: number;
}

/** Pods of a Service and how clients reach them. */
export interface ServiceSpec {
  readonly ports?: readonly ServicePort[];
  readonly selector?: Readonly<Record<string, string>>;
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly type?: ServiceType;
  readonly externalIPs?: readonly string[];
  readonly sessionAffinity?: string;
  readonly loadBalancerIP?: string;
  readonly loadBalancerSourceRanges?: readonly string[];
  readonly externalName?: string;
  readonly externalTrafficPolicy?: string;
  readonly healthCheckNodePort?: number;
  readonly publishNotReadyAddresses?: boolean;
  readonly sessionAffinityConfig?: unknown;
  readonly ipFamilies?: readonly string[];
  readonly ipFamilyPolicy?: string;
  readonly allocateLoadBalancerNodePorts?: boolean;
  readonly loadBalancerClass?: string;
  readonly internalTrafficPolicy?: string;
  readonly trafficDistribution?: string;
}

/** Name for a set of pods (core/v1 Service). */
export interface Service {
  readonly apiVersion: 'v1';
  readonly kind: 'Service';
  readonly metadata: ObjectMeta;
  readonly spec: ServiceSpec;
  readonly status?: unknown;
}
