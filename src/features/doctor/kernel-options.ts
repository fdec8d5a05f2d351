/** Option of the kernel's configuration that containers need. */
export interface KernelOption {
  /** Name without `CONFIG_`. */
  readonly name: string;
  /** Option that has the same effect. */
  readonly or?: string;
  /** True if pods do not run without it; otherwise only what `use` says fails. */
  readonly isRequired: boolean;
  readonly use: string;
}

const required = (use: string, ...names: readonly string[]): readonly KernelOption[] =>
  names.map((name) => ({name, isRequired: true, use}));
const optional = (use: string, ...names: readonly string[]): readonly KernelOption[] =>
  names.map((name) => ({name, isRequired: false, use}));

/**
 * Options that kubeadm (system-validators, types_unix.go) and k3s (check-config.sh) require or recommend. What the two require
 * of iptables is optional here: networks of nftables or eBPF work without it. Names of removed options are left out.
 */
export const KERNEL_OPTIONS: readonly KernelOption[] = [
  ...required('namespaces of containers', 'NAMESPACES', 'NET_NS', 'PID_NS', 'IPC_NS', 'UTS_NS'),
  ...required(
    'limits of containers',
    'CGROUPS',
    'CGROUP_PIDS',
    'CGROUP_SCHED',
    'CPUSETS',
    'MEMCG',
    'FAIR_GROUP_SCHED',
  ),
  ...required('network of pods', 'INET', 'VETH'),
  ...required('/proc', 'PROC_FS'),
  ...optional('devices of containers with cgroup v2', 'CGROUP_BPF'),
  ...optional('devices and freezing with cgroup v1', 'CGROUP_DEVICE', 'CGROUP_FREEZER', 'CGROUP_CPUACCT'),
  ...optional('CPU limits', 'CFS_BANDWIDTH'),
  ...optional('limits of huge pages', 'CGROUP_HUGETLB'),
  ...optional('limits of disks', 'BLK_CGROUP', 'BLK_DEV_THROTTLING'),
  ...optional('layers of images', 'OVERLAY_FS'),
  ...optional('seccomp profiles', 'SECCOMP', 'SECCOMP_FILTER'),
  ...optional('keys of containers', 'KEYS'),
  ...optional('user namespaces', 'USER_NS'),
  ...optional('/dev/mqueue of containers', 'POSIX_MQUEUE'),
  ...optional('bridges of pods', 'BRIDGE', 'BRIDGE_NETFILTER'),
  ...optional(
    'Services and host ports',
    'NF_NAT',
    'NETFILTER_XT_MATCH_ADDRTYPE',
    'NETFILTER_XT_MATCH_CONNTRACK',
  ),
  ...optional('Services and host ports', 'NETFILTER_XT_MATCH_COMMENT', 'NETFILTER_XT_MATCH_MULTIPORT'),
  ...optional('Services and host ports', 'NETFILTER_XT_MATCH_STATISTIC'),
  {name: 'NETFILTER_XT_TARGET_REDIRECT', or: 'IP_NF_TARGET_REDIRECT', isRequired: false, use: 'redirections'},
  {name: 'IP_NF_TARGET_REDIRECT', or: 'NETFILTER_XT_TARGET_REDIRECT', isRequired: false, use: 'redirections'},
  ...optional('overlay networks', 'VXLAN'),
];
