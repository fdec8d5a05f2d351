/** A cgroup layout and driver, as the node and its runtime have them. */
export interface CgroupFacts {
  /** 2 only for the unified hierarchy; a hybrid host counts as 1. */
  readonly version: 1 | 2;
  readonly driver: 'cgroupfs' | 'systemd';
  /** The kubelet's cgroupRoot: what precedes /kubepods, `` or `/some/parent`. */
  readonly root: string;
  /** The kernel accounts swap per cgroup, so that it can be forbidden per container. */
  readonly swapAccounting: boolean;
}

/** What a runtime handler can do. */
export interface HandlerFeatures {
  /** Honours user namespaces. */
  readonly userNamespaces: boolean;
  /** Honours recursive read-only mounts. */
  readonly recursiveReadOnlyMounts: boolean;
}

/** What the runtime says that it can do. */
export interface RuntimeFeatures {
  /** By name, the default one under ``; empty for a runtime that tells nothing of its handlers. */
  readonly handlers: ReadonlyMap<string, HandlerFeatures>;
  /** Honours a policy for supplementary groups. */
  readonly supplementalGroupsPolicy: boolean;
}

/** The host's resolv.conf, parsed (network/dns parseResolvConf). */
export interface ResolvConf {
  readonly nameservers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

/**
 * All that a pod's configuration takes from the node. Read once at start (or made up by a test), so that
 * everything that decides is a pure function.
 */
export interface NodeFacts {
  /** Lower case: what the kubelet's --hostname-override or the machine's host name says. */
  readonly nodeName: string;
  /** The node's addresses, primary family first. */
  readonly nodeIps: readonly string[];
  /** Of this and the next two: the capacity. What pods may have of it says nodeAllocatable. */
  readonly cpuMilli: bigint;
  readonly memoryBytes: bigint;
  readonly ephemeralStorageBytes: bigint;
  /** In the runtime's words, `2MB` and `1GB`, in the kernel's order. */
  readonly hugePageSizes: readonly string[];
  /** Of each of these sizes how many bytes of huge pages the node has set aside. */
  readonly hugePageBytes: ReadonlyMap<string, bigint>;
  /** DNS servers of the cluster; empty on a machine without one. */
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** Undefined when there is to be none: pods then ask a server of their own. */
  readonly resolvConf: ResolvConf | undefined;
  readonly cgroup: CgroupFacts;
  /** Where the cgroup file systems are; undefined when pods have no cgroups of kcri's making. */
  readonly cgroupMount: string | undefined;
  /** --root-dir, without a trailing slash. */
  readonly rootDir: string;
  /** podLogsDir, /var/log/pods unless told otherwise. */
  readonly podLogsDir: string;
  /** --seccomp-default. */
  readonly seccompDefault: boolean;
  /** The kernel has AppArmor. */
  readonly appArmorEnabled: boolean;
  /** `uname -r`, by which some sysctls are safe. */
  readonly kernelRelease: string;
  /** --allowed-unsafe-sysctls: names, or beginnings of names that end in `*`. */
  readonly allowedUnsafeSysctls: readonly string[];
  /** How many processes a pod may have (--pod-max-pids); undefined for any number. */
  readonly podPidsLimit: bigint | undefined;
  /** How many pods the node takes; 110 without. */
  readonly maxPods?: number | undefined;
  /** What nodeSelector and node affinity are compared with. */
  readonly labels: Readonly<Record<string, string>>;
  readonly runtime: RuntimeFeatures;
  /** SELinux is on: what kcri makes for a container must be relabelled for it. */
  readonly selinuxEnabled: boolean;
  /** Existing /sys/devices/system/cpu/cpuN/thermal_throttle directories, masked as the kubelet does. */
  readonly thermalThrottlePaths: readonly string[];
  /** The content of the node's /etc/hosts, for pods in the host's network. */
  readonly hostsFile: string;
}

/** What of the node must be the same from a pod's beginning to its end: by it its logs and cgroups are found again. */
export type PodPlace = Pick<NodeFacts, 'podLogsDir' | 'cgroup'>;

/** The default hard eviction thresholds: 100Mi of memory, 10% of the node's file system. */
const EVICTION_MEMORY_BYTES = 100n * 1024n * 1024n;
/** The kubelet keeps percentages as 32 bit floats, which shows in the last digits. */
const EVICTION_STORAGE_SHARE = Math.fround(0.1);

/** What pods may have of the node: the capacity without what eviction keeps free (GetNodeAllocatableReservation). */
export function nodeAllocatable(
  node: Pick<NodeFacts, 'cpuMilli' | 'memoryBytes' | 'ephemeralStorageBytes'>,
): Pick<NodeFacts, 'cpuMilli' | 'memoryBytes' | 'ephemeralStorageBytes'> {
  const storageKept = BigInt(Math.trunc(Number(node.ephemeralStorageBytes) * EVICTION_STORAGE_SHARE));
  return {
    cpuMilli: node.cpuMilli,
    memoryBytes: node.memoryBytes - EVICTION_MEMORY_BYTES,
    ephemeralStorageBytes: node.ephemeralStorageBytes - storageKept,
  };
}

/** The node's cgroup file systems, and the root directory that knows what kcri has made in them. */
export interface CgroupGround {
  readonly mount: string;
  readonly version: 1 | 2;
  readonly rootDir: string;
}

/** Where pods' cgroups are made, or undefined when kcri makes none. */
export function cgroupGround({cgroupMount, cgroup, rootDir}: NodeFacts): CgroupGround | undefined {
  return cgroupMount === undefined ? undefined : {mount: cgroupMount, version: cgroup.version, rootDir};
}

/** `<rootDir>/pods/<uid>`. */
export function podDir(node: Pick<NodeFacts, 'rootDir'>, uid: string): string {
  return `${node.rootDir}/pods/${uid}`;
}

/** `<podLogsDir>/<namespace>_<name>_<uid>` (BuildPodLogsDirectory). */
export function podLogsDirectory(node: Pick<NodeFacts, 'podLogsDir'>, pod: PodIdentity): string {
  return `${node.podLogsDir}/${podLogsName(pod)}`;
}

/** `<namespace>_<name>_<uid>`: longer than a file's name may be for some valid pods. */
export function podLogsName({namespace, name, uid}: PodIdentity): string {
  return `${namespace}_${name}_${uid}`;
}

interface PodIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}
