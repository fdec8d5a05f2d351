import {counted} from '../../../base/counted.js';
import {failure, judge, ok, textIn, warning, type Check} from '../check.js';
import {isMissing, mapFact, valueOf} from '../fact.js';
import {KERNEL_OPTIONS, type KernelOption} from '../kernel-options.js';
import type {NodeSnapshot} from '../node-snapshot.js';

type Config = Readonly<Record<string, 'y' | 'm' | 'n'>>;

/** Kernels that kubeadm supports: long-term ones of 5.x, and 6.x and later. */
const SUPPORTED = /^(?:5\.(?:4|10|15)|[6-9]|[1-9]\d)\./;
/** Number of keys that k3s wants at least for all containers of root. */
const MIN_KEYS = 10_000;

/** Modules that containers need, and the file that a kernel has with the module, or with its function built in. */
const MODULES = [
  {name: 'overlay', use: 'layers of images', has: (node: NodeSnapshot) => hasFileSystem(node, 'overlay')},
  {
    name: 'br_netfilter',
    use: 'Services for pods on a bridge',
    has: ({files}: NodeSnapshot) => isThere(files['/proc/sys/net/bridge/bridge-nf-call-iptables']),
  },
  {
    name: 'nf_conntrack',
    use: 'Services and host ports',
    has: ({files}: NodeSnapshot) => isThere(files['/proc/sys/net/netfilter/nf_conntrack_max']),
  },
] as const;

const isThere = (fact: NodeSnapshot['files'][string] | undefined): boolean =>
  fact !== undefined && 'value' in fact;

function hasFileSystem({files}: NodeSnapshot, name: string): boolean {
  const text = valueOf(files['/proc/filesystems'] ?? {error: ''}) ?? '';
  return new RegExp(`\\b${name}$`, 'm').test(text);
}

/** Checks of what the kernel was built with, and has loaded. */
export const KERNEL_CONFIG_CHECKS: readonly Check[] = [
  {
    id: 'kernel/version',
    title: 'version of the kernel',
    examine: (snapshot) =>
      judge([textIn(snapshot, '/proc/sys/kernel/osrelease')], (release) =>
        SUPPORTED.test(release)
          ? ok(release)
          : warning(`${release} is not one that Kubernetes supports: 5.4, 5.10, 5.15, or 6 and later`, {
              remedy: ['upgrade the kernel'],
            }),
      ),
  },
  {
    id: 'kernel/config',
    title: 'options that the kernel was built with',
    examine: ({kernel: {config}}) =>
      judge([config], (values) => {
        const missing = KERNEL_OPTIONS.filter((option) => isUnset(values, option));
        const required = missing.filter(({isRequired}) => isRequired);
        if (missing.length === 0) return ok(`all ${KERNEL_OPTIONS.length} options for containers are set`);
        const more = {
          details: missing.map(({name, use}) => `CONFIG_${name} is not set: ${use}`),
          remedy: ['boot a kernel with these options, if the node needs what they are for'],
        };
        return required.length > 0
          ? failure(
              `${counted(required.length, 'option')} that containers need ${required.length === 1 ? 'is' : 'are'} not set`,
              more,
            )
          : warning(
              `${counted(missing.length, 'option')} that some containers need ${missing.length === 1 ? 'is' : 'are'} not set`,
              more,
            );
      }),
  },
  {
    id: 'kernel/modules',
    title: 'modules that containers need',
    examine: (snapshot) =>
      judge([loadedModules(snapshot)], (loaded) => {
        const missing = MODULES.filter(({name, has}) => !loaded.has(name) && !has(snapshot));
        if (missing.length === 0) return ok(MODULES.map(({name}) => name).join(', '));
        return warning(
          `${missing.map(({name}) => name).join(', ')} ${missing.length === 1 ? 'is' : 'are'} not loaded`,
          {
            details: missing.map(({name, use}) => `${name}: ${use}`),
            remedy: [
              ...missing.map(({name}) => `modprobe ${name}`),
              `printf '%s\\n' ${missing.map(({name}) => name).join(' ')} > /etc/modules-load.d/containers.conf`,
            ],
          },
        );
      }),
  },
  {
    id: 'kernel/keys',
    title: 'limit of keys',
    examine: (snapshot) =>
      judge([textIn(snapshot, '/proc/sys/kernel/keys/root_maxkeys')], (text) =>
        Number(text) > MIN_KEYS
          ? ok(`${text} keys of root`)
          : warning(`only ${text} keys of root: each container takes one`, {
              remedy: ['sysctl -w kernel.keys.root_maxkeys=1000000'],
            }),
      ),
  },
  {
    id: 'kernel/packet-filter',
    title: 'iptables and nftables',
    examine: (snapshot) => {
      const modules = snapshot.files['/proc/modules'] ?? {error: '/proc/modules was not read'};
      return judge(
        // A kernel without modules does not tell who uses nf_tables.
        [legacyTables(snapshot), isMissing(modules) ? {value: ''} : modules],
        (tables, loaded) => {
          const usesNft = /^nf_tables \d+ [1-9]/m.test(loaded);
          if (tables.length === 0)
            return ok(
              usesNft ? 'nftables only' : 'neither iptables-legacy nor the module nf_tables is in use',
            );
          if (!usesNft) return ok(`iptables-legacy only: ${tables.join(', ')}`);
          return warning(
            `tables of iptables-legacy (${tables.join(', ')}) exist beside nftables: rules of one do not see those of the other`,
            {
              details: [
                'inferred from /proc/net/ip_tables_names, and from the users of the module nf_tables in /proc/modules',
              ],
              remedy: ['iptables-legacy-save; nft list ruleset', 'update-alternatives --display iptables'],
            },
          );
        },
      );
    },
  },
];

function isUnset(values: Config, {name, or}: KernelOption): boolean {
  const value = values[name] ?? 'n';
  return value === 'n' && (or === undefined || (values[or] ?? 'n') === 'n');
}

function loadedModules({files}: NodeSnapshot) {
  const modules = files['/proc/modules'] ?? {error: '/proc/modules was not read'};
  // A kernel without modules has no such file.
  if (isMissing(modules)) return {value: new Set<string>()};
  return mapFact(modules, (text) => new Set([...text.matchAll(/^(\w+) /gm)].map(([, name = '']) => name)));
}

/** Returns the tables of iptables-legacy, which are absent as long as nothing uses them. */
function legacyTables({files}: NodeSnapshot) {
  const paths = ['/proc/net/ip_tables_names', '/proc/net/ip6_tables_names'];
  const facts = paths.map((path) => files[path] ?? {error: `${path} was not read`});
  const unread = facts.find((fact) => 'error' in fact && !isMissing(fact));
  if (unread !== undefined && 'error' in unread) return unread;
  const names = facts.flatMap((fact) => (valueOf(fact) ?? '').split('\n').filter((name) => name !== ''));
  return {value: [...new Set(names)]};
}
