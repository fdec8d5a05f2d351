import type {ConditionStatus, ObjectMeta, ResourceList, Time} from './v1-meta.js';

/** A condition of the node. */
export interface NodeCondition {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly lastHeartbeatTime?: Time;
  readonly lastTransitionTime?: Time;
  readonly reason?: string;
  readonly message?: string;
}

/** An address of the node. */
export interface NodeAddress {
  readonly type: 'Hostname' | 'InternalIP' | 'ExternalIP' | 'InternalDNS' | 'ExternalDNS';
  readonly address: string;
}

/** Identity and versions of the node. */
export interface NodeSystemInfo {
  readonly machineID: string;
  readonly systemUUID: string;
  readonly bootID: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly containerRuntimeVersion: string;
  readonly kubeletVersion: string;
  readonly kubeProxyVersion: string;
  readonly operatingSystem: string;
  readonly architecture: string;
  /** Swap of the node, in bytes. */
  readonly swap?: {readonly capacity: number};
}

/** An image on the node. */
export interface ContainerImage {
  readonly names: readonly string[];
  readonly sizeBytes: number;
}

/** A runtime handler and its features. */
export interface NodeRuntimeHandler {
  readonly name: string;
  readonly features: {readonly recursiveReadOnlyMounts: boolean; readonly userNamespaces: boolean};
}

/** State of the node as the kubelet reports it. */
export interface NodeStatus {
  readonly addresses?: readonly NodeAddress[];
  readonly allocatable?: ResourceList;
  readonly capacity?: ResourceList;
  readonly conditions?: readonly NodeCondition[];
  readonly daemonEndpoints?: {readonly kubeletEndpoint: {readonly Port: number}};
  readonly declaredFeatures?: readonly string[];
  readonly features?: {readonly supplementalGroupsPolicy: boolean};
  readonly images?: readonly ContainerImage[] | undefined;
  readonly nodeInfo?: NodeSystemInfo;
  readonly runtimeHandlers?: readonly NodeRuntimeHandler[] | undefined;
  /** Unique names of volumes that must stay attached, sorted. */
  readonly volumesInUse?: readonly string[] | undefined;
  /** Volumes that the controllers have attached. */
  readonly volumesAttached?: readonly {readonly name: string; readonly devicePath: string}[];
}

/** A taint of the node. */
export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
  readonly timeAdded?: Time;
}

/** Node of a cluster. */
export interface Node {
  readonly apiVersion: 'v1';
  readonly kind: 'Node';
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly providerID?: string;
    readonly taints?: readonly Taint[];
    readonly unschedulable?: boolean;
    readonly podCIDR?: string;
    readonly podCIDRs?: readonly string[];
  };
  readonly status?: NodeStatus;
}

/** Lease that a node renews as its heartbeat. */
export interface Lease {
  readonly apiVersion: 'coordination.k8s.io/v1';
  readonly kind: 'Lease';
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly holderIdentity: string;
    readonly leaseDurationSeconds: number;
    /** RFC 3339 with microseconds. */
    readonly renewTime: string;
  };
}
