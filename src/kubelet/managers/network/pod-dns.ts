import {isIPv6} from 'node:net';
import type {Pod, PodDNSConfig, PodDNSConfigOption} from '../../../api/types/v1-pod.js';
import type {DNSConfig} from '../../../cri/index.js';
import type {NodeFacts, ResolvConf} from '../../contract/node-facts.js';
import {formatPod, podRef} from '../../contract/pod-ref.js';

/** Limits of resolv.conf (validation.MaxDNSNameservers, MaxDNSSearchPaths, MaxDNSSearchListChars). */
const MAX_SERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_LIST_CHARS = 2048;
/** Maximum length of a search domain; longer ones make some resolvers abort. */
const MAX_SEARCH_CHARS = 253;
const CLUSTER_OPTIONS = ['ndots:5'];

/** Warning event about a pod's resolv.conf. */
export interface DnsWarning {
  readonly reason: 'MissingClusterDNS' | 'DNSConfigForming';
  readonly message: string;
}

/** DNS configuration of a pod, with warnings. */
export interface PodDns {
  readonly config: DNSConfig;
  readonly warnings: readonly DnsWarning[];
}

/** The host's resolv.conf; undefined when disabled. */
export interface HostDns {
  readonly resolvConf: ResolvConf | undefined;
}

type DnsFacts = Pick<NodeFacts, 'clusterDns' | 'clusterDomain' | 'nodeIps' | 'inCluster'> & HostDns;

/**
 * Computes a pod's DNS configuration from its dnsPolicy and dnsConfig, truncated to the limits (network/dns GetPodDNS).
 */
export function podDns(pod: Pod, node: DnsFacts): PodDns {
  const base = dnsBase(pod, node);
  const merged = mergeDnsConfig(base.config, pod.spec.dnsConfig);
  const servers = limitServers(merged.servers);
  const searches = limitSearches(merged.searches);
  return {
    config: {servers: servers.applied, searches: searches.applied, options: merged.options},
    warnings: [...base.warnings, ...servers.warnings, ...searches.warnings],
  };
}

/** Adds the pod's dnsConfig (appendDNSConfig). */
function mergeDnsConfig(base: DNSConfig, own: PodDNSConfig | undefined): DNSConfig {
  if (own === undefined) return base;
  const {nameservers = [], searches = [], options = []} = own;
  return {
    servers: unique([...base.servers, ...nameservers]),
    searches: unique([...base.searches, ...searches]),
    options: mergeOptions(base.options, options),
  };
}

/** Returns the configuration of the dnsPolicy alone. */
function dnsBase(pod: Pod, node: DnsFacts): PodDns {
  const {dnsPolicy = 'ClusterFirst', hostNetwork = false} = pod.spec;
  if (dnsPolicy === 'None') return {config: {servers: [], searches: [], options: []}, warnings: []};
  const clusterFirst =
    dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && !hostNetwork);
  if (!clusterFirst) return {config: hostConfig(node), warnings: []};
  if (node.clusterDns.length > 0) return {config: clusterConfig(pod, node), warnings: []};
  // Without a cluster, there is no DNS server that could be missing.
  return {config: hostConfig(node), warnings: node.inCluster === true ? [missingClusterDns(pod)] : []};
}

/** Returns the host's configuration; without a resolv.conf, one with the pod's loopback address. */
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

/** Merges options by name; the pod's value replaces the base's (mergeDNSOptions). */
function mergeOptions(base: readonly string[], own: readonly PodDNSConfigOption[]): readonly string[] {
  const options = new Map(base.map((option) => [option.split(':', 1)[0] ?? option, option]));
  for (const {name = '', value = ''} of own) options.set(name, value === '' ? name : `${name}:${value}`);
  return [...options.values()];
}

interface Limited {
  readonly applied: readonly string[];
  readonly warnings: readonly DnsWarning[];
}

function limitServers(servers: readonly string[]): Limited {
  const applied = servers.slice(0, MAX_SERVERS);
  return toLimited(
    servers,
    applied,
    (line) =>
      `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${line}`,
  );
}

/** Drops search domains beyond the maximum number, too long ones, and the last ones while the line is too long. */
function limitSearches(searches: readonly string[]): Limited {
  const applied = searches
    .slice(0, MAX_SEARCHES)
    .filter((search) => Buffer.byteLength(search) <= MAX_SEARCH_CHARS);
  while (Buffer.byteLength(applied.join(' ')) > MAX_SEARCH_LIST_CHARS) applied.pop();
  return toLimited(
    searches,
    applied,
    (line) =>
      `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${line}`,
  );
}

function toLimited(
  all: readonly string[],
  applied: readonly string[],
  text: (line: string) => string,
): Limited {
  if (applied.length === all.length) return {applied, warnings: []};
  return {applied, warnings: [{reason: 'DNSConfigForming', message: text(applied.join(' '))}]};
}
