/** A cgroup layout and driver, as the node and its runtime have them. */
export interface CgroupFacts {
  /** 2 only for the unified hierarchy; a hybrid host counts as 1. */
  readonly version: 1 | 2;
  readonly driver: 'cgroupfs' | 'systemd';
  /** The kubelet's cgroupRoot: what precedes /kubepods, `` or `/some/parent`. */
  readonly root: string;
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
  readonly cpuMilli: bigint;
  readonly memoryBytes: bigint;
  readonly ephemeralStorageBytes: bigint;
  /** In the runtime's words, `2MB` and `1GB`, in the kernel's order. */
  readonly hugePageSizes: readonly string[];
  /** DNS servers of the cluster; empty on a machine without one. */
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  readonly resolvConf: ResolvConf;
  readonly cgroup: CgroupFacts;
  /** --root-dir, without a trailing slash. */
  readonly rootDir: string;
  /** podLogsDir, /var/log/pods unless told otherwise. */
  readonly podLogsDir: string;
  /** --seccomp-default. */
  readonly seccompDefault: boolean;
  /** Existing /sys/devices/system/cpu/cpuN/thermal_throttle directories, masked as the kubelet does. */
  readonly thermalThrottlePaths: readonly string[];
  /** The content of the node's /etc/hosts, for pods in the host's network. */
  readonly hostsFile: string;
}

/** `<rootDir>/pods/<uid>`. */
export function podDir(node: Pick<NodeFacts, 'rootDir'>, uid: string): string {
  return `${node.rootDir}/pods/${uid}`;
}

/** `<podLogsDir>/<namespace>_<name>_<uid>` (BuildPodLogsDirectory). */
export function podLogsDirectory(
  node: Pick<NodeFacts, 'podLogsDir'>,
  pod: {readonly namespace: string; readonly name: string; readonly uid: string},
): string {
  return `${node.podLogsDir}/${pod.namespace}_${pod.name}_${pod.uid}`;
}
