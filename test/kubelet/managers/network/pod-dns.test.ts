import {describe, expect, test} from 'vitest';
import type {PodSpec} from '../../../../src/api/types/v1-pod.js';
import {podDns} from '../../../../src/kubelet/managers/network/pod-dns.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {aPod, UID} from '../../../fakes/a-pod.js';

const HOST = {servers: ['192.0.2.53'], searches: ['example.test'], options: ['ndots:2']};
const CLUSTER = {
  servers: ['10.96.0.10'],
  searches: ['default.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'example.test'],
  options: ['ndots:5'],
};
const EMPTY = {servers: [], searches: [], options: []};

describe('resolv.conf', () => {
  // Proves: PodDNSConfig.nameservers, PodDNSConfig.searches, PodDNSConfig.options
  test.each<[Partial<PodSpec>, object]>([
    [{}, CLUSTER],
    [{dnsPolicy: 'Default'}, HOST],
    [{dnsPolicy: 'None'}, EMPTY],
    [{dnsPolicy: 'ClusterFirst', hostNetwork: true}, HOST],
    [{dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true}, CLUSTER],
    [
      {dnsPolicy: 'None', dnsConfig: {nameservers: ['1.1.1.1'], searches: ['a'], options: [{name: 'debug'}]}},
      {servers: ['1.1.1.1'], searches: ['a'], options: ['debug']},
    ],
    [
      {
        dnsPolicy: 'Default',
        dnsConfig: {
          nameservers: ['192.0.2.53', '1.1.1.1'],
          searches: ['example.test', 'b'],
          options: [{name: 'ndots', value: '7'}, {name: 'edns0'}],
        },
      },
      {servers: ['192.0.2.53', '1.1.1.1'], searches: ['example.test', 'b'], options: ['ndots:7', 'edns0']},
    ],
  ])('of %o has the DNS config of its policy', (spec, expected) => {
    expect(podDns(aPod(spec), GOLDEN_NODE)).toEqual({config: expected, warnings: []});
  });

  test('without a cluster domain has the cluster’s servers and the host’s search domains', () => {
    const {config} = podDns(aPod(), {...GOLDEN_NODE, clusterDomain: ''});

    expect(config).toEqual({...CLUSTER, searches: ['example.test']});
  });

  test('without a cluster is that of the host', () => {
    expect(podDns(aPod(), {...GOLDEN_NODE, clusterDns: []})).toEqual({config: HOST, warnings: []});
  });

  test('without the DNS of the cluster is that of the host, with a warning', () => {
    expect(podDns(aPod(), {...GOLDEN_NODE, clusterDns: [], inCluster: true})).toEqual({
      config: HOST,
      warnings: [
        {
          reason: 'MissingClusterDNS',
          message: `pod: "web_default(${UID})". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.`,
        },
      ],
    });
  });
});

// Proves: PodSpec.dnsPolicy
test('without a host resolv.conf has the loopback addresses of the node’s families', () => {
  const node = {...GOLDEN_NODE, resolvConf: undefined, nodeIps: ['192.0.2.2', '2001:db8::2']};

  expect(podDns(aPod({dnsPolicy: 'Default'}), node).config).toEqual({
    servers: ['127.0.0.1', '::1'],
    searches: ['.'],
    options: [],
  });
  expect(podDns(aPod(), node).config.searches).toEqual(CLUSTER.searches.slice(0, 3));
});

describe('resolv.conf is limited to', () => {
  function withSearches(searches: readonly string[]): ReturnType<typeof podDns> {
    return podDns(aPod({dnsPolicy: 'None', dnsConfig: {nameservers: ['1.1.1.1'], searches}}), GOLDEN_NODE);
  }

  // Proves: PodSpec.dnsConfig
  test('three nameservers', () => {
    const nameservers = ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'];

    const {config, warnings} = podDns(aPod({dnsPolicy: 'None', dnsConfig: {nameservers}}), GOLDEN_NODE);

    expect(config.servers).toEqual(nameservers.slice(0, 3));
    expect(warnings).toEqual([
      {
        reason: 'DNSConfigForming',
        message:
          'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 1.1.1.1 1.1.1.2 1.1.1.3',
      },
    ]);
  });

  test('32 search domains', () => {
    const {config, warnings} = withSearches(Array.from({length: 33}, (_, index) => `d${index}`));

    expect(config.searches).toHaveLength(32);
    expect(warnings[0]?.message).toMatch(/^Search Line limits were exceeded.* line is: d0 d1 .* d31$/);
  });

  test('253 characters per search domain', () => {
    const {config, warnings} = withSearches(['a', 'x'.repeat(254), 'x'.repeat(253)]);

    expect(config.searches).toEqual(['a', 'x'.repeat(253)]);
    expect(warnings).toHaveLength(1);
  });

  test('2048 characters of search domains, truncated at the end', () => {
    const domains = Array.from({length: 10}, (_, index) => `${index}`.repeat(250));

    const {config} = withSearches(domains);

    expect(config.searches).toEqual(domains.slice(0, 8));
  });
});
