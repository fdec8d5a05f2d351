import type {ConfigValues} from '../../kubelet/configuration/fields-and-defaults/kubelet-config-defaults.js';
import type {PodFlagValues} from '../manifests/pod-flags.js';

/** Converts the node settings of a KubeletConfiguration to the flag values of other commands. */
export function nodeFlagsFromConfig(values: ConfigValues): PodFlagValues {
  const {cgroupDriver, resolvConf} = values;
  return {
    'cluster-dns': values.clusterDNS,
    'cluster-domain': values.clusterDomain,
    // The default file may be missing; an explicit one must exist.
    'resolv-conf': resolvConf === '/etc/resolv.conf' ? undefined : resolvConf,
    'pod-logs-dir': values.podLogsDir,
    'cgroup-root': values.cgroupRoot,
    'cgroup-driver': cgroupDriver === 'systemd' || cgroupDriver === 'cgroupfs' ? cgroupDriver : undefined,
    'seccomp-default': values.seccompDefault,
    'allowed-unsafe-sysctls': values.allowedUnsafeSysctls,
    'pod-max-pids': values.podPidsLimit,
  };
}
