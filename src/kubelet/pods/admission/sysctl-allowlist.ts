import {normalizeSysctlName, type SysctlNamespace} from '../../../api/sysctl.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {goQuote} from '../../../format/go-quote.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {parseAllowedSysctl} from '../../node/allowed-sysctl.js';

/** Sysctls without effect outside their pod, with the first kernel that supports them per pod (safe_sysctls.go). */
const SAFE_SYSCTLS: readonly (readonly [name: string, kernel: string])[] = [
  ['kernel.shm_rmid_forced', '0'],
  ['net.ipv4.ip_local_port_range', '0'],
  ['net.ipv4.tcp_syncookies', '0'],
  ['net.ipv4.ping_group_range', '0'],
  ['net.ipv4.ip_unprivileged_port_start', '0'],
  ['net.ipv4.ip_local_reserved_ports', '3.16'],
  ['net.ipv4.tcp_keepalive_time', '4.5'],
  ['net.ipv4.tcp_fin_timeout', '4.6'],
  ['net.ipv4.tcp_keepalive_intvl', '4.5'],
  ['net.ipv4.tcp_keepalive_probes', '4.5'],
  ['net.ipv4.tcp_rmem', '4.15'],
  ['net.ipv4.tcp_wmem', '4.15'],
];

/**
 * Returns the kubelet's message for the first sysctl of the pod that is not allowed on the node, or undefined
 * (patternAllowlist.Admit).
 */
export function findForbiddenSysctl(
  {spec}: Pod,
  {kernelRelease, allowedUnsafeSysctls}: Pick<NodeFacts, 'kernelRelease' | 'allowedUnsafeSysctls'>,
): string | undefined {
  const {securityContext: {sysctls = []} = {}, hostNetwork, hostIPC} = spec;
  if (sysctls.length === 0) return undefined;
  const safe = SAFE_SYSCTLS.filter(([, kernel]) => isAtLeast(kernelRelease, kernel)).map(([name]) => name);
  const allowed = [...safe, ...allowedUnsafeSysctls].map(parseAllowedSysctl);
  const hosts: Readonly<Record<SysctlNamespace, boolean>> = {
    ipc: hostIPC === true,
    net: hostNetwork === true,
  };
  for (const sysctl of sysctls) {
    const name = normalizeSysctlName(sysctl.name);
    const rule = allowed.find((rule) => (rule.wild ? name.startsWith(rule.name) : name === rule.name));
    if (rule === undefined) return `forbidden sysctl: ${goQuote(name)} not allowlisted`;
    if (hosts[rule.namespace])
      return `forbidden sysctl: ${goQuote(name)} not allowed with host ${rule.namespace} enabled`;
  }
  return undefined;
}

/** Reports whether a kernel release such as 6.12.0-1-amd64 is at least the version; compares the first two numbers. */
function isAtLeast(release: string, version: string): boolean {
  const numbers = (text: string): readonly number[] =>
    (/^\d+(?:\.\d+)?/.exec(text)?.[0] ?? '0').split('.').map(Number);
  const [major = 0, minor = 0] = numbers(release);
  const [leastMajor = 0, leastMinor = 0] = numbers(version);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}
