import * as Flags from '@oclif/core/flags';
import {parseQuantity, quantityMilliValue, quantityValue} from '../api/quantity.js';
import type {NodeOptions} from '../kubelet/index.js';
import {parseLabels} from '../operations/filters.js';
import {integerFlag, listFlag} from './flags.js';

/** An amount as manifests have it, such as 1500m or 2Gi; more than nothing. */
const quantityFlag = Flags.custom({
  parse: async (text) => {
    if (parseQuantity(text).nanos <= 0n) throw new Error('not more than 0');
    return text;
  },
});

/** The flags of every command that reads Pod manifests. */
export const POD_FLAGS = {
  static: Flags.boolean({
    description:
      "Treat the manifests as the kubelet treats its manifest directory: the node's name is added to the pod's, the " +
      'UID comes from the content, the source is "file".',
  }),
  lenient: Flags.boolean({description: 'Warn about unknown fields instead of refusing them.'}),
  'hostname-override': Flags.string({
    helpGroup: 'NODE',
    helpValue: 'NAME',
    description: "The node's name. [default: the machine's host name]",
  }),
  'node-ip': listFlag({
    helpGroup: 'NODE',
    helpValue: 'IP',
    description:
      "The node's addresses, primary family first. [default: those of the default route's interface]",
  }),
  'node-cpu': quantityFlag({
    helpGroup: 'NODE',
    helpValue: 'QUANTITY',
    description: "The node's CPUs, which containers without a limit are told. [default: the machine's]",
  }),
  'node-memory': quantityFlag({
    helpGroup: 'NODE',
    helpValue: 'QUANTITY',
    description: "The node's memory, which OOM scores depend on. [default: the machine's]",
  }),
  'cluster-dns': listFlag({
    helpGroup: 'NODE',
    helpValue: 'IP',
    description: "DNS servers for pods with dnsPolicy ClusterFirst. [default: none, they use the node's own]",
  }),
  'cluster-domain': Flags.string({
    helpGroup: 'NODE',
    helpValue: 'DOMAIN',
    description: "The cluster's DNS domain.",
  }),
  'resolv-conf': Flags.string({
    helpGroup: 'NODE',
    helpValue: 'FILE',
    description: 'The resolver configuration that pods start from. [default: /etc/resolv.conf]',
  }),
  'pod-logs-dir': Flags.string({
    helpGroup: 'NODE',
    helpValue: 'DIR',
    description: 'Where container logs go. [default: /var/log/pods]',
  }),
  'cgroup-root': Flags.string({
    helpGroup: 'NODE',
    helpValue: 'PATH',
    description: 'The cgroup that /kubepods is made in. [default: /]',
  }),
  'cgroup-driver': Flags.custom<'cgroupfs' | 'systemd'>({options: ['cgroupfs', 'systemd']})({
    helpGroup: 'NODE',
    description: 'How pod cgroups are named. [default: what the runtime says]',
  }),
  'seccomp-default': Flags.boolean({
    helpGroup: 'NODE',
    description: 'Use RuntimeDefault as the seccomp profile of containers that have none.',
  }),
  'allowed-unsafe-sysctls': listFlag({
    helpGroup: 'NODE',
    helpValue: 'NAME',
    description: 'Sysctls that pods may set beside the safe ones, such as net.core.somaxconn or kernel.msg*.',
  }),
  'node-labels': listFlag({
    helpGroup: 'NODE',
    helpValue: 'KEY=VALUE',
    description:
      'Labels of the node, for nodeSelector and node affinity, beside its name, system and architecture.',
  }),
  'pod-max-pids': integerFlag({
    helpGroup: 'NODE',
    helpValue: 'COUNT',
    description: 'How many processes a pod may have. [default: any number]',
  }),
  'image-credential-provider-config': Flags.string({
    helpGroup: 'NODE',
    helpValue: 'FILE|DIR',
    description: 'A CredentialProviderConfig: programs that know credentials for registries.',
  }),
  'image-credential-provider-bin-dir': Flags.string({
    helpGroup: 'NODE',
    helpValue: 'DIR',
    description: 'Where these programs are.',
  }),
};

/** The values of POD_FLAGS as oclif gives them. */
export interface PodFlagValues {
  readonly 'hostname-override'?: string | undefined;
  readonly 'node-ip'?: readonly string[] | undefined;
  readonly 'node-cpu'?: string | undefined;
  readonly 'node-memory'?: string | undefined;
  readonly 'cluster-dns'?: readonly string[] | undefined;
  readonly 'cluster-domain'?: string | undefined;
  readonly 'resolv-conf'?: string | undefined;
  readonly 'pod-logs-dir'?: string | undefined;
  readonly 'cgroup-root'?: string | undefined;
  readonly 'cgroup-driver'?: 'cgroupfs' | 'systemd' | undefined;
  readonly 'seccomp-default'?: boolean | undefined;
  readonly 'allowed-unsafe-sysctls'?: readonly string[] | undefined;
  readonly 'node-labels'?: readonly string[] | undefined;
  readonly 'pod-max-pids'?: number | undefined;
  readonly 'image-credential-provider-config'?: string | undefined;
  readonly 'image-credential-provider-bin-dir'?: string | undefined;
}

/** What the flags say of the node. */
export function nodeOptions(flags: PodFlagValues, rootDir: string): NodeOptions {
  const {'node-cpu': cpu, 'node-memory': memory, 'pod-max-pids': pids} = flags;
  return {
    rootDir,
    cpuMilli: cpu === undefined ? undefined : quantityMilliValue(cpu),
    memoryBytes: memory === undefined ? undefined : quantityValue(memory),
    nodeName: flags['hostname-override'],
    nodeIps: flags['node-ip'],
    clusterDns: flags['cluster-dns'],
    clusterDomain: flags['cluster-domain'],
    resolvConf: flags['resolv-conf'],
    podLogsDir: flags['pod-logs-dir'],
    cgroupRoot: flags['cgroup-root'],
    cgroupDriver: flags['cgroup-driver'],
    seccompDefault: flags['seccomp-default'],
    allowedUnsafeSysctls: flags['allowed-unsafe-sysctls'],
    labels: parseLabels(flags['node-labels']),
    podPidsLimit: pids === undefined || pids <= 0 ? undefined : BigInt(pids),
  };
}
