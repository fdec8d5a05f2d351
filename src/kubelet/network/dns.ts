import {isIPv6} from 'node:net';
import type {Pod, PodDNSConfig, PodDNSConfigOption} from '../../api/v1.js';
import type {DNSConfig} from '../../cri/index.js';
import type {NodeFacts} from '../container/node.js';
import {formatPod, podRef} from '../container/pod-ref.js';

/** What resolv.conf takes (validation.MaxDNSNameservers, MaxDNSSearchPaths, MaxDNSSearchListChars). */
const MAX_SERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_LIST_CHARS = 2048;
/** Longer search domains make some resolvers abort. */
const MAX_SEARCH_CHARS = 253;
const CLUSTER_OPTIONS = ['ndots:5'];

/** A warning about the pod's resolv.conf, for its events. */
export interface DnsWarning {
  readonly reason: 'MissingClusterDNS' | 'DNSConfigForming';
  readonly message: string;
}

/** A pod's resolv.conf, and what was wrong on the way to it. */
export interface PodDns {
  readonly config: DNSConfig;
  readonly warnings: readonly DnsWarning[];
}

type DnsFacts = Pick<NodeFacts, 'clusterDns' | 'clusterDomain' | 'nodeIps' | 'resolvConf'>;

/** The pod's resolv.conf by its dnsPolicy and dnsConfig, cut to the limits (network/dns GetPodDNS). */
export function podDns(pod: Pod, node: DnsFacts): PodDns {
  const base = dnsBase(pod, node);
  const wanted = withOwn(base.config, pod.spec.dnsConfig);
  const servers = fitServers(wanted.servers);
  const searches = fitSearches(wanted.searches);
  return {
    config: {servers: servers.kept, searches: searches.kept, options: wanted.options},
    warnings: [...base.warnings, ...servers.warnings, ...searches.warnings],
  };
}

/** Adds what the Pod itself says. */
function withOwn(base: DNSConfig, own: PodDNSConfig | undefined): DNSConfig {
  if (own === undefined) return base;
  const {nameservers = [], searches = [], options = []} = own;
  return {
    servers: unique([...base.servers, ...nameservers]),
    searches: unique([...base.searches, ...searches]),
    options: mergeOptions(base.options, options),
  };
}

/** What the policy alone gives. */
function dnsBase(pod: Pod, node: DnsFacts): PodDns {
  const {dnsPolicy = 'ClusterFirst', hostNetwork = false} = pod.spec;
  if (dnsPolicy === 'None') return {config: {servers: [], searches: [], options: []}, warnings: []};
  const clusterFirst =
    dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && !hostNetwork);
  if (!clusterFirst) return {config: hostConfig(node), warnings: []};
  if (node.clusterDns.length > 0) return {config: clusterConfig(pod, node), warnings: []};
  return {config: hostConfig(node), warnings: [missingClusterDns(pod)]};
}

/** The host's own; when it is to have none, one that leads nowhere but to the pod itself. */
function hostConfig({resolvConf, nodeIps}: DnsFacts): DNSConfig {
  if (resolvConf !== undefined) {
    const {nameservers, searches, options} = resolvConf;
    return {servers: nameservers, searches, options};
  }
  const loopback = (ip: string): string => (isIPv6(ip) ? '::1' : '127.0.0.1');
  return {
    servers: nodeIps.length === 0 ? ['127.0.0.1'] : nodeIps.map(loopback),
    searches: ['.'],
    options: [],
  };
}

function clusterConfig(pod: Pod, {clusterDns, clusterDomain, resolvConf}: DnsFacts): DNSConfig {
  const service = `svc.${clusterDomain}`;
  const cluster = clusterDomain === '' ? [] : [`${podRef(pod).namespace}.${service}`, service, clusterDomain];
  return {
    servers: clusterDns,
    searches: unique([...cluster, ...(resolvConf?.searches ?? [])]),
    options: CLUSTER_OPTIONS,
  };
}

function missingClusterDns(pod: Pod): DnsWarning {
  const problem =
    'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.';
  return {reason: 'MissingClusterDNS', message: `pod: "${formatPod(podRef(pod))}". ${problem}`};
}

function unique(items: readonly string[]): readonly string[] {
  return [...new Set(items)];
}

/** Options by name; the Pod's value replaces that of the base. */
function mergeOptions(base: readonly string[], own: readonly PodDNSConfigOption[]): readonly string[] {
  const options = new Map(base.map((option) => [option.split(':', 1)[0] ?? option, option]));
  for (const {name = '', value = ''} of own) options.set(name, value === '' ? name : `${name}:${value}`);
  return [...options.values()];
}

interface Fitted {
  readonly kept: readonly string[];
  readonly warnings: readonly DnsWarning[];
}

function fitServers(servers: readonly string[]): Fitted {
  const kept = servers.slice(0, MAX_SERVERS);
  return fitted(
    servers,
    kept,
    (line) =>
      `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${line}`,
  );
}

/** Too many, too long ones and, from the end, as many as the line is too long for. */
function fitSearches(searches: readonly string[]): Fitted {
  const kept = searches
    .slice(0, MAX_SEARCHES)
    .filter((search) => Buffer.byteLength(search) <= MAX_SEARCH_CHARS);
  while (Buffer.byteLength(kept.join(' ')) > MAX_SEARCH_LIST_CHARS) kept.pop();
  return fitted(
    searches,
    kept,
    (line) =>
      `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${line}`,
  );
}

function fitted(all: readonly string[], kept: readonly string[], text: (line: string) => string): Fitted {
  if (kept.length === all.length) return {kept, warnings: []};
  return {kept, warnings: [{reason: 'DNSConfigForming', message: text(kept.join(' '))}]};
}
