import type {Taint} from '../../api/types/v1-node.js';
import {validatePathSegment} from '../../base/fs/files.js';
import type {ContainerPolicy} from './resources/container-policy.js';
import type {CpuManagerSettings} from './resources/cpu-manager-settings.js';
import type {Machine} from './resources/machine.js';
import type {MemoryManagerSettings} from './resources/memory-settings.js';
import type {ShutdownPolicy} from './resources/shutdown-policy.js';
import type {NodeReservations} from './resources/node-reservations.js';
import type {TopologyManagerSettings} from './resources/topology-settings.js';

/** Cgroup layout and driver of the node and its runtime. */
export interface CgroupFacts {
  /** Cgroup version: 2 only for the unified hierarchy; a hybrid host counts as 1. */
  readonly version: 1 | 2;
  readonly driver: 'cgroupfs' | 'systemd';
  /** The kubelet's cgroupRoot, the parent of /kubepods: empty, or a path such as `/some/parent`. */
  readonly root: string;
  /** True if the kernel accounts swap per cgroup, which is required to forbid it per container. */
  readonly swapAccounting: boolean;
}

/** Cgroups of the kubelet's process and of those in the root cgroup; empty for none (kubeletCgroups, systemCgroups). */
export interface ProcessCgroups {
  readonly kubelet: string;
  readonly system: string;
}

/** Features of a runtime handler. */
export interface HandlerFeatures {
  /** True if it supports user namespaces. */
  readonly userNamespaces: boolean;
  /** True if it supports recursive read-only mounts. */
  readonly recursiveReadOnlyMounts: boolean;
}

/** Features that the runtime reports. */
export interface RuntimeFeatures {
  /**
   * Handlers by name in its order, the default one under the empty name; an empty map if the runtime does not report its
   * handlers.
   */
  readonly handlers: ReadonlyMap<string, HandlerFeatures>;
  /** True if it supports a policy for supplementary groups; undefined if the runtime does not report features. */
  readonly supplementalGroupsPolicy: boolean | undefined;
  /** True if its configuration says that containers get no CDI devices. */
  readonly isCdiDisabled?: boolean;
  /** A runtime that creates containers without their CDI devices; undefined for others. */
  readonly ignoresCdi?: CdiIgnorer | undefined;
}

/** A runtime that creates containers without their CDI devices. */
export interface CdiIgnorer {
  /** Name and version. */
  readonly runtime: string;
  /** Change that makes it use them. */
  readonly remedy: string;
}

/** The host's resolv.conf, parsed (network/dns parseResolvConf). */
export interface ResolvConf {
  readonly nameservers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

/** IP addresses of the node, which pods get as their host IPs. */
export interface HostIps {
  /** Primary address first; empty while none is known. */
  readonly current: readonly string[];
  /** Finds the addresses again, if they may change. Rejects with Error if there are none; `current` then remains. */
  refresh?(): Promise<void>;
}

/** Directory of the drivers of FlexVolumes that Kubernetes uses by default. */
export const DEFAULT_VOLUME_PLUGIN_DIR = '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/';

/**
 * Node properties that a pod's configuration depends on. Read once at the start, except for the IP addresses, so that all
 * decisions are pure functions.
 */
export interface NodeFacts {
  /** Node name in lower case: the kubelet's --hostname-override or the host name. */
  readonly nodeName: string;
  /** True if the node has joined a cluster; without one, static pods get no addresses of the node. */
  readonly inCluster?: boolean;
  /** Values of --node-ip, which decide the order of the IP addresses of pods; 0.0.0.0 and :: stand for a family. */
  readonly nodeIps: readonly string[];
  readonly hostIps: HostIps;
  /** CPU capacity. This and the next two fields are capacities; nodeAllocatable returns the part that pods can use. */
  readonly cpuMilli: bigint;
  readonly memoryBytes: bigint;
  /** 0 if local storage is not isolated: the node does not report it as a resource then (localStorageCapacityIsolation). */
  readonly ephemeralStorageBytes: bigint;
  /** Swap of the node; none if undefined. */
  readonly swapBytes?: bigint | undefined;
  /** Huge page sizes as the runtime writes them, `2MB` and `1GB`, in the kernel's order. */
  readonly hugePageSizes: readonly string[];
  /** Huge pages reserved on the node by size, in bytes. */
  readonly hugePageBytes: ReadonlyMap<string, bigint>;
  /** DNS servers of the cluster; empty without a cluster. */
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /**
   * Reads the host's resolv.conf; undefined when disabled: pods then use their loopback address as the DNS server.
   * Rejects with SystemError.
   */
  readonly readResolvConf: () => Promise<ResolvConf | undefined>;
  readonly cgroup: CgroupFacts;
  /** Mount point of the cgroup filesystems; undefined when kcri creates no pod cgroups. */
  readonly cgroupMount: string | undefined;
  /** --root-dir, without a trailing slash. */
  readonly rootDir: string;
  /** podLogsDir; /var/log/pods by default. */
  readonly podLogsDir: string;
  /** Directory of links to the container logs, for log collectors; none if undefined or empty. */
  readonly containerLogsDir?: string | undefined;
  /** Directory of the drivers of FlexVolumes; DEFAULT_VOLUME_PLUGIN_DIR by default. */
  readonly volumePluginDir?: string | undefined;
  /** --seccomp-default. */
  readonly seccompDefault: boolean;
  /** True if the kernel has AppArmor enabled. */
  readonly appArmorEnabled: boolean;
  /** Kernel release (`uname -r`), which decides whether some sysctls are safe. */
  readonly kernelRelease: string;
  /** --allowed-unsafe-sysctls: names, or prefixes that end in `*`. */
  readonly allowedUnsafeSysctls: readonly string[];
  /** Number of IDs of a pod's user namespace, a multiple of the default 65536. */
  readonly idsPerUserNamespace?: number;
  /** Maximum number of processes per pod (--pod-max-pids); undefined for no limit. */
  readonly podPidsLimit: bigint | undefined;
  /** Limits of containers beyond those of their pods; by default DEFAULT_CONTAINER_POLICY. */
  readonly containerPolicy?: ContainerPolicy | undefined;
  /** Time for the pods when the node shuts down; none if undefined. */
  readonly shutdown?: ShutdownPolicy | undefined;
  /** Maximum number of pods on the node; 110 by default. */
  readonly maxPods?: number | undefined;
  /** Maximum number of processes on the node; undefined if it is not known. */
  readonly maxPids?: bigint | undefined;
  /** Resources that pods cannot use; without it, nothing is reserved, and all pods together have no limit. */
  readonly reservations?: NodeReservations | undefined;
  /** Reads the CPUs and memory of the machine, once; undefined if they do not matter. Throws SystemError. */
  readonly machine?: (() => Machine) | undefined;
  /** Without it there is no CPU manager. */
  readonly cpuManager?: CpuManagerSettings | undefined;
  /** Without it there is no memory manager. */
  readonly memoryManager?: MemoryManagerSettings | undefined;
  /** Without it there is no topology manager. */
  readonly topologyManager?: TopologyManagerSettings | undefined;
  /** Cgroups to which processes are moved; none if undefined. */
  readonly processCgroups?: ProcessCgroups | undefined;
  /** Percentage of requested memory that pods of lower QoS classes cannot use; undefined without such a reserve. */
  readonly qosReservedMemoryPercent?: bigint | undefined;
  /** Directory of the sockets of device plugins; without it there is no device manager. */
  readonly devicePluginsDir?: string | undefined;
  /** Returns the allocatable extended resources; pods run without others that they request. None if undefined. */
  readonly extendedResources?: (() => ReadonlyMap<string, bigint>) | undefined;
  /** Node labels that nodeSelector and node affinity are matched against. */
  readonly labels: Readonly<Record<string, string>>;
  /** Taints of the Node object; none without a cluster. */
  readonly taints?: readonly Taint[];
  readonly runtime: RuntimeFeatures;
  /** True if SELinux is enabled: files that kcri creates for a container must then be relabeled. */
  readonly selinuxEnabled: boolean;
  /** Existing /sys/devices/system/cpu/cpuN/thermal_throttle directories, masked as the kubelet does. */
  readonly thermalThrottlePaths: readonly string[];
  /** Reads the node's /etc/hosts, for pods in the host network. Rejects with SystemError. */
  readonly readHostsFile: () => Promise<string>;
}

/** Node properties on which the managers of CPUs and memory depend. */
export type ManagedNode = Pick<
  NodeFacts,
  'rootDir' | 'machine' | 'reservations' | 'cpuManager' | 'memoryManager' | 'topologyManager'
>;

/** Node properties that must not change during a pod's lifetime: they locate its logs, cgroups and drivers. */
export type PodLocation = Pick<NodeFacts, 'podLogsDir' | 'containerLogsDir' | 'cgroup' | 'volumePluginDir'>;

/** Returns the location of the pods that are created on the node now. */
export function podLocation(node: NodeFacts): PodLocation {
  const {podLogsDir, containerLogsDir, cgroup, volumePluginDir} = node;
  return {podLogsDir, containerLogsDir, cgroup, volumePluginDir};
}

/** Returns the directory of the claims of a root directory; they survive the pods that use them. */
export function claimsDir({rootDir}: Pick<NodeFacts, 'rootDir'>): string {
  return `${rootDir}/claims`;
}

/** Returns `<rootDir>/pods/<uid>`. Throws SystemError for a UID that is not a valid file name. */
export function podDir(node: Pick<NodeFacts, 'rootDir'>, uid: string): string {
  return `${node.rootDir}/pods/${validatePathSegment('pod UID', uid)}`;
}

/** Returns `<podLogsDir>/<namespace>_<name>_<uid>` (BuildPodLogsDirectory). */
export function podLogsDirectory(node: Pick<NodeFacts, 'podLogsDir'>, pod: PodIdentity): string {
  return `${node.podLogsDir}/${podLogsDirectoryName(pod)}`;
}

/** Returns `<namespace>_<name>_<uid>`, which exceeds the length limit of file names for some valid pods. */
export function podLogsDirectoryName({namespace, name, uid}: PodIdentity): string {
  return `${namespace}_${name}_${uid}`;
}

interface PodIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}
