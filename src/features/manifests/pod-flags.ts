import * as Flags from '@oclif/core/flags';
import {parseQuantity, quantityMilliValue, quantityValue} from '../../api/quantity.js';
import type {NodeOptions} from '../../kubelet/index.js';
import {UsageError} from '../../base/errors.js';
import {integerFlag, listFlag} from '../../cli/flags/flag-types.js';
import {parseNodeIps} from './node-ips.js';
import {MANIFEST_FLAGS, type ManifestOverrideFlags} from './manifest-flags.js';
import {parseNodeLabels} from './node-labels.js';

/** Flag that takes a positive quantity, such as 1500m or 2Gi. */
const quantityFlag = Flags.custom({
  parse: async (text) => {
    if (parseQuantity(text).nanos <= 0n) throw new Error('must be greater than 0');
    return text;
  },
});

/** Flags of all commands that read Pod manifests. */
export const POD_FLAGS = {
  static: Flags.boolean({
    description:
      'Treat the manifests as static pods: add the node name to the pod name, compute the UID from the ' +
      'content, and set the source to "file".',
  }),
  lenient: Flags.boolean({
    description: 'Warn about unknown fields and duplicate keys instead of rejecting them.',
  }),
  ...MANIFEST_FLAGS,
  strict: Flags.boolean({
    description: 'Reject objects that have no effect here, such as an Ingress, instead of skipping them.',
  }),
  replicas: integerFlag({
    helpValue: 'COUNT',
    description: 'Number of replicas of workloads. [default: that of the manifest]',
  }),
  'hostname-override': Flags.string({
    helpGroup: 'NODE',
    helpValue: 'NAME',
    description: 'Name of the node. [default: the host name]',
  }),
  'node-ip': listFlag({
    helpGroup: 'NODE',
    helpValue: 'IP',
    description:
      'IP address of the node, or an IPv4 and an IPv6 address, primary family first; 0.0.0.0 or :: to prefer ' +
      'a family. [default: the address of the node name, or that of the default route]',
  }),
  'node-cpu': quantityFlag({
    helpGroup: 'NODE',
    helpValue: 'QUANTITY',
    description: "CPU capacity of the node. [default: the machine's]",
  }),
  'node-memory': quantityFlag({
    helpGroup: 'NODE',
    helpValue: 'QUANTITY',
    description: "Memory capacity of the node, used to compute OOM scores. [default: the machine's]",
  }),
  'cluster-dns': listFlag({
    helpGroup: 'NODE',
    helpValue: 'IP',
    description: "DNS servers for pods with dnsPolicy ClusterFirst. [default: the node's DNS configuration]",
  }),
  'cluster-domain': Flags.string({
    helpGroup: 'NODE',
    helpValue: 'DOMAIN',
    description: 'DNS domain of the cluster.',
  }),
  'resolv-conf': Flags.string({
    helpGroup: 'NODE',
    helpValue: 'FILE',
    description: 'Resolver configuration file that pods inherit. [default: /etc/resolv.conf]',
  }),
  'pod-logs-dir': Flags.string({
    helpGroup: 'NODE',
    helpValue: 'DIR',
    description: 'Directory of the container logs. [default: /var/log/pods]',
  }),
  'container-logs-dir': Flags.string({
    helpGroup: 'NODE',
    helpValue: 'DIR',
    description:
      'Directory of links to the container logs, for log collectors; empty for none. ' +
      '[default: /var/log/containers for the pods of the node, none for those of other directories]',
  }),
  'volume-plugin-dir': Flags.string({
    helpGroup: 'NODE',
    helpValue: 'DIR',
    description:
      'Directory of FlexVolume drivers. [default: /usr/libexec/kubernetes/kubelet-plugins/volume/exec]',
  }),
  'cgroup-root': Flags.string({
    helpGroup: 'NODE',
    helpValue: 'PATH',
    description: 'Parent cgroup of /kubepods. [default: /]',
  }),
  'cgroup-driver': Flags.custom<'cgroupfs' | 'systemd'>({options: ['cgroupfs', 'systemd']})({
    helpGroup: 'NODE',
    helpValue: 'DRIVER',
    description: 'Cgroup driver: cgroupfs or systemd. [default: as reported by the runtime]',
  }),
  'seccomp-default': Flags.boolean({
    helpGroup: 'NODE',
    description: 'Use RuntimeDefault as the default seccomp profile.',
  }),
  'allowed-unsafe-sysctls': listFlag({
    helpGroup: 'NODE',
    helpValue: 'NAME',
    description: 'Unsafe sysctls that pods may set, such as net.core.somaxconn or kernel.msg*.',
  }),
  'node-labels': listFlag({
    helpGroup: 'NODE',
    helpValue: 'KEY=VALUE',
    description:
      'Labels of the node for nodeSelector and node affinity, in addition to host name, OS and ' +
      'architecture.',
  }),
  'pod-max-pids': integerFlag({
    helpGroup: 'NODE',
    helpValue: 'COUNT',
    description: 'Maximum number of processes per pod. [default: no limit]',
  }),
  'image-credential-provider-config': Flags.string({
    helpGroup: 'NODE',
    helpValue: 'PATH',
    description: 'CredentialProviderConfig file or directory.',
  }),
  'image-credential-provider-bin-dir': Flags.string({
    helpGroup: 'NODE',
    helpValue: 'DIR',
    description: 'Directory of credential provider plugins.',
  }),
};

/** Flags that describe the node and have no field in the KubeletConfiguration. */
export const NODE_FLAGS = {
  'hostname-override': POD_FLAGS['hostname-override'],
  'node-ip': POD_FLAGS['node-ip'],
  'node-labels': POD_FLAGS['node-labels'],
  'node-cpu': POD_FLAGS['node-cpu'],
  'node-memory': POD_FLAGS['node-memory'],
  'container-logs-dir': POD_FLAGS['container-logs-dir'],
  'image-credential-provider-config': POD_FLAGS['image-credential-provider-config'],
  'image-credential-provider-bin-dir': POD_FLAGS['image-credential-provider-bin-dir'],
};

/** Parsed values of POD_FLAGS. */
export interface PodFlagValues extends ManifestOverrideFlags {
  readonly 'hostname-override'?: string | undefined;
  readonly 'node-ip'?: readonly string[] | undefined;
  readonly 'node-cpu'?: string | undefined;
  readonly 'node-memory'?: string | undefined;
  readonly 'cluster-dns'?: readonly string[] | undefined;
  readonly 'cluster-domain'?: string | undefined;
  readonly 'resolv-conf'?: string | undefined;
  readonly 'pod-logs-dir'?: string | undefined;
  readonly 'container-logs-dir'?: string | undefined;
  readonly 'volume-plugin-dir'?: string | undefined;
  readonly 'cgroup-root'?: string | undefined;
  readonly 'cgroup-driver'?: 'cgroupfs' | 'systemd' | undefined;
  readonly 'seccomp-default'?: boolean | undefined;
  readonly 'allowed-unsafe-sysctls'?: readonly string[] | undefined;
  readonly 'node-labels'?: readonly string[] | undefined;
  readonly 'pod-max-pids'?: number | undefined;
  readonly 'image-credential-provider-config'?: string | undefined;
  readonly 'image-credential-provider-bin-dir'?: string | undefined;
}

/** Returns the node options from the flags. Throws UsageError. */
export function nodeOptions(flags: PodFlagValues, rootDir: string): NodeOptions {
  const {'node-cpu': cpu, 'node-memory': memory, 'pod-max-pids': pids} = flags;
  return {
    rootDir,
    cpuMilli: cpu === undefined ? undefined : quantityMilliValue(cpu),
    memoryBytes: memory === undefined ? undefined : quantityValue(memory),
    nodeName: flags['hostname-override'],
    nodeIps: requireNodeIps(flags['node-ip']),
    clusterDns: flags['cluster-dns'],
    clusterDomain: flags['cluster-domain'],
    resolvConf: flags['resolv-conf'],
    podLogsDir: flags['pod-logs-dir'],
    containerLogsDir: flags['container-logs-dir'],
    volumePluginDir: flags['volume-plugin-dir'],
    cgroupRoot: flags['cgroup-root'],
    cgroupDriver: flags['cgroup-driver'],
    seccompDefault: flags['seccomp-default'],
    allowedUnsafeSysctls: flags['allowed-unsafe-sysctls'],
    labels: parseNodeLabels(flags['node-labels']),
    podPidsLimit: pids === undefined || pids <= 0 ? undefined : BigInt(pids),
  };
}

function requireNodeIps(values: readonly string[] = []): readonly string[] {
  const {nodeIps, invalid} = parseNodeIps(values);
  const [text] = invalid;
  if (text === undefined) return nodeIps;
  throw new UsageError(`--node-ip "${text}" is not an IP address`, {
    hint: 'set an IPv4 address such as 192.0.2.1, or an IPv6 address such as 2001:db8::1',
  });
}
