import {counted} from '../../../base/counted.js';
import {shellQuote} from '../../../base/shell-quote.js';
import {isObject} from '../../../base/is-object.js';
import {parseJsonObject} from '../../../base/parse-json-object.js';
import {failure, judge, ok, skipped, textIn, warning, type Check} from '../check.js';
import {isMissing, valueOf} from '../fact.js';

/** Share of the conntrack table in use from which on it is a warning. */
const CONNTRACK_SHARE = 0.8;
/** Number of name servers and search domains that the resolver of glibc and the kubelet use. */
const MAX_NAME_SERVERS = 3;

const FORWARD = '/proc/sys/net/ipv4/ip_forward';
const BRIDGE = '/proc/sys/net/bridge/bridge-nf-call-iptables';

/** Checks of the network. */
export const NETWORK_CHECKS: readonly Check[] = [
  {
    id: 'network/cni-config',
    title: 'network configurations',
    examine: ({cni: {confDir, configs}}) => {
      const remedy = [`ls -l ${shellQuote(confDir)}`];
      if (isMissing(configs))
        return failure(`${confDir} does not exist`, {remedy: ['install a network plugin']});
      return judge([configs], (all) => {
        if (all.length === 0)
          return failure(`${confDir} has no network configuration`, {remedy: ['install a network plugin']});
        const broken = all.flatMap(({path, text}) => {
          if ('error' in text) return [text.error];
          return pluginTypes(text.value) === undefined
            ? [`${path} is not a network configuration in JSON with plugin types`]
            : [];
        });
        if (broken.length === 0) return ok(`${counted(all.length, 'configuration')} in ${confDir}`);
        return failure(
          `${counted(broken.length, 'configuration')} of ${all.length} in ${confDir} cannot be used`,
          {details: broken, remedy},
        );
      });
    },
  },
  {
    id: 'network/cni-plugins',
    title: 'programs of network plugins',
    examine: ({cni: {configs, plugins, binDirs}}) =>
      judge([configs, plugins], (all, programs) => {
        const needed = [
          ...new Set(all.flatMap(({text}) => ('value' in text ? (pluginTypes(text.value) ?? []) : []))),
        ];
        const bad = needed.flatMap((name) => {
          const found = programs.filter((program) => program.name === name);
          if (found.length === 0) return [`${name} is missing`];
          return found.some(({isExecutable}) => isExecutable) ? [] : [`${name} is not executable`];
        });
        const places = binDirs.join(', ');
        if (needed.length === 0) return skipped('no network configuration names a plugin');
        if (bad.length === 0) return ok(`${needed.join(', ')} in ${places}`);
        return failure(`${counted(bad.length, 'plugin')} cannot be run`, {
          details: bad.map((text) => `${text} in ${places}`),
          remedy: [`ls -l ${binDirs.map(shellQuote).join(' ')}`],
        });
      }),
  },
  {
    id: 'network/ip-forward',
    title: 'forwarding of packets of pods',
    examine: (snapshot) =>
      judge([textIn(snapshot, FORWARD)], (value) =>
        value === '1'
          ? ok('net.ipv4.ip_forward is 1')
          : failure(`net.ipv4.ip_forward is ${value}: pods reach only their own node`, {
              remedy: ['sysctl -w net.ipv4.ip_forward=1'],
            }),
      ),
  },
  {
    id: 'network/br-netfilter',
    title: 'rules for packets between pods on a bridge',
    examine: (snapshot) => {
      const fact = textIn(snapshot, BRIDGE);
      if (isMissing(fact))
        return skipped('the module br_netfilter is not loaded; only kube-proxy with bridges needs it');
      return judge([fact], (value) =>
        value === '1'
          ? ok('net.bridge.bridge-nf-call-iptables is 1')
          : warning(
              `net.bridge.bridge-nf-call-iptables is ${value}: packets between pods of a bridge skip the rules of Services`,
              {
                remedy: ['sysctl -w net.bridge.bridge-nf-call-iptables=1'],
              },
            ),
      );
    },
  },
  {
    id: 'network/conntrack',
    title: 'tracked connections',
    examine: (snapshot) =>
      judge(
        [
          textIn(snapshot, '/proc/sys/net/netfilter/nf_conntrack_count'),
          textIn(snapshot, '/proc/sys/net/netfilter/nf_conntrack_max'),
        ],
        (count, max) => {
          const text = `${count} of ${max} connections are tracked`;
          if (Number(count) < Number(max) * CONNTRACK_SHARE) return ok(text);
          return (Number(count) >= Number(max) ? failure : warning)(
            `${text}; further ones are dropped when the table is full`,
            {
              remedy: [`sysctl -w net.netfilter.nf_conntrack_max=${2 * Number(max)}`],
            },
          );
        },
      ),
  },
  {
    id: 'network/resolv-conf',
    title: 'resolver configuration',
    examine: (snapshot) =>
      judge([textIn(snapshot, '/etc/resolv.conf')], (text) => {
        const servers = [...text.matchAll(/^nameserver\s+(\S+)/gm)].map(([, server = '']) => server);
        const remedy = ['cat /etc/resolv.conf'];
        if (servers.length === 0) return failure('/etc/resolv.conf has no nameserver', {remedy});
        if (servers.length > MAX_NAME_SERVERS)
          return warning(
            `/etc/resolv.conf has ${servers.length} name servers, of which ${MAX_NAME_SERVERS} are used`,
            {details: servers, remedy},
          );
        if (servers.every((server) => server.startsWith('127.')))
          return warning('/etc/resolv.conf has only name servers on loopback, which pods cannot reach', {
            details: servers,
            remedy: ['set resolvConf of the kubelet, such as to /run/systemd/resolve/resolv.conf'],
          });
        return ok(servers.join(', '));
      }),
  },
  {
    id: 'network/netns',
    title: 'network namespaces without a pod',
    examine: ({cni: {netns}, runtime: {sandboxes}}) => {
      if (isMissing(netns) && valueOf(sandboxes) !== undefined) return ok('no network namespaces');
      return judge([netns, sandboxes], ({directory, names}, pods) => {
        const extra = names.length - pods.length;
        if (extra <= 0)
          return ok(
            `${counted(names.length, 'network namespace')} in ${directory}, ${counted(pods.length, 'pod sandbox')}`,
          );
        return warning(
          `${counted(names.length, 'network namespace')} in ${directory}, but only ${counted(pods.length, 'pod sandbox')}`,
          {
            details: ['those that no pod uses keep their addresses and interfaces'],
            remedy: [`ls -l ${shellQuote(directory)}`],
          },
        );
      });
    },
  },
];

/** Returns the types of the plugins that a network configuration needs; undefined if it is invalid. */
function pluginTypes(text: string): readonly string[] | undefined {
  const config = parseJsonObject(text);
  const plugins: readonly unknown[] = Array.isArray(config['plugins']) ? config['plugins'] : [config];
  const types = plugins.flatMap((plugin) => {
    const {type, ipam} = isObject(plugin) ? plugin : {};
    return [type, isObject(ipam) ? ipam['type'] : undefined].filter(
      (each): each is string => typeof each === 'string' && each !== '',
    );
  });
  return types.length === 0 ? undefined : [...new Set(types)];
}
