import type {HostAlias} from '../../api/v1.js';

/** The lines of every pod's hosts file but a host network's: loopback and IPv6 multicast. */
const STANDARD_LINES = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];

/** What a pod's own hosts file says. */
export interface HostsFileInput {
  readonly podIps: readonly string[];
  readonly hostname: string;
  /** Empty without a subdomain. */
  readonly domain: string;
  readonly aliases: readonly HostAlias[];
}

/** The /etc/hosts of a pod with its own network, byte for byte as the kubelet writes it (managedHostsFileContent). */
export function hostsFileContent({podIps, hostname, domain, aliases}: HostsFileInput): string {
  const names = domain === '' ? hostname : `${hostname}.${domain}\t${hostname}`;
  return lines(
    '# Kubernetes-managed hosts file.',
    ...STANDARD_LINES,
    ...podIps.map((ip) => `${ip}\t${names}`),
    ...aliasLines(aliases),
  );
}

/** The /etc/hosts of a pod in the host's network: the node's, and the aliases (nodeHostsFileContent). */
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
