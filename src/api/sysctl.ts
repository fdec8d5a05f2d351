/** Kernel namespaces that sysctls can belong to. */
export type SysctlNamespace = 'ipc' | 'net';

/**
 * Returns a sysctl's name with dots as separators. In a name whose first separator is a slash, slashes and dots are
 * swapped: `net/ipv4/conf/eth0.1/x` is `net.ipv4.conf.eth0/1.x` (sysctl.NormalizeName).
 */
export function normalizeSysctlName(name: string): string {
  const separator = /[./]/.exec(name)?.[0];
  return separator === '/' ? name.replace(/[./]/g, (found) => (found === '/' ? '.' : '/')) : name;
}

/** Name prefixes and the namespace of all sysctls that start with them. */
const PREFIXES: readonly (readonly [prefix: string, namespace: SysctlNamespace])[] = [
  ['kernel.shm', 'ipc'],
  ['kernel.msg', 'ipc'],
  ['fs.mqueue.', 'ipc'],
  ['net.', 'net'],
];

/**
 * Returns the namespace of a sysctl, or of all sysctls with a prefix, given with dots; undefined for sysctls of the
 * whole machine.
 */
export function sysctlNamespace(name: string): SysctlNamespace | undefined {
  if (name === 'kernel.sem') return 'ipc';
  return PREFIXES.find(([prefix]) => name.startsWith(prefix))?.[1];
}
