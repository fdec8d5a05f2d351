import type {HostAlias} from '../../../api/types/v1-pod.js';

/** Lines of the hosts file of every pod without host network. */
const STANDARD_LINES = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];

/** Input of hostsFileContent. */
export interface HostsFileInput {
  readonly podIps: readonly string[];
  readonly hostname: string;
  /** Empty without a subdomain. */
  readonly domain: string;
  readonly aliases: readonly HostAlias[];
}

/** Returns the /etc/hosts of a pod without host network, byte for byte like the kubelet (managedHostsFileContent). */
export function hostsFileContent({podIps, hostname, domain, aliases}: HostsFileInput): string {
  const names = domain === '' ? hostname : `${hostname}.${domain}\t${hostname}`;
  return lines(
    '# Kubernetes-managed hosts file.',
    ...STANDARD_LINES,
    ...podIps.map((ip) => `${ip}\t${names}`),
    ...aliasLines(aliases),
  );
}

/** Returns the /etc/hosts of a pod with host network: the node's file and the aliases (nodeHostsFileContent). */
export function hostNetworkHostsFileContent(nodeHostsFile: string, aliases: readonly HostAlias[]): string {
  return `# Kubernetes-managed hosts file (host network).\n${nodeHostsFile}${lines(...aliasLines(aliases))}`;
}

function aliasLines(aliases: readonly HostAlias[]): readonly string[] {
  if (aliases.length === 0) return [];
  return [
    '',
    '# Entries added by HostAliases.',
    ...aliases.map(({ip, hostnames = []}) => `${ip}\t${hostnames.join('\t')}`),
  ];
}

function lines(...texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}
