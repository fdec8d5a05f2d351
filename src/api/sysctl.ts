/** The kernel's namespaces that sysctls can belong to. */
export type SysctlNamespace = 'ipc' | 'net';

/**
 * A sysctl's name with dots: `net/ipv4/conf/eth0.1/x` is `net.ipv4.conf.eth0/1.x`, so that in a name whose first
 * separator is a slash the two change places (sysctl.NormalizeName).
 */
export function normalizeSysctlName(name: string): string {
  const separator = /[./]/.exec(name)?.[0];
  return separator === '/' ? name.replace(/[./]/g, (found) => (found === '/' ? '.' : '/')) : name;
}

/** Beginnings of names and the namespace of all that begins so. */
const PREFIXES: readonly (readonly [prefix: string, namespace: SysctlNamespace])[] = [
  ['kernel.shm', 'ipc'],
  ['kernel.msg', 'ipc'],
  ['fs.mqueue.', 'ipc'],
  ['net.', 'net'],
];

/** The namespace of a sysctl or of all that begin so, given with dots; undefined for one of the whole machine. */
export function sysctlNamespace(name: string): SysctlNamespace | undefined {
  if (name === 'kernel.sem') return 'ipc';
  return PREFIXES.find(([prefix]) => name.startsWith(prefix))?.[1];
}
