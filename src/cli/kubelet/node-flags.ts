import type {ConfigValues} from '../../kubelet/kubelet-config/fields.js';
import type {PodFlagValues} from '../pod-flags.js';

/** What a KubeletConfiguration says of the node, as the flags of other commands say it. */
export function nodeFlagsOf(values: ConfigValues): PodFlagValues {
  const {cgroupDriver, resolvConf} = values;
  return {
    'cluster-dns': values.clusterDNS,
    'cluster-domain': values.clusterDomain,
    // The usual file need not be there, one that is named must.
    'resolv-conf': resolvConf === '/etc/resolv.conf' ? undefined : resolvConf,
    'pod-logs-dir': values.podLogsDir,
    'cgroup-root': values.cgroupRoot,
    'cgroup-driver': cgroupDriver === 'systemd' || cgroupDriver === 'cgroupfs' ? cgroupDriver : undefined,
    'seccomp-default': values.seccompDefault,
    'allowed-unsafe-sysctls': values.allowedUnsafeSysctls,
    'pod-max-pids': values.podPidsLimit,
  };
}
