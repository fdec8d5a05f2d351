import {describe, expect, test} from 'vitest';
import type {ContainerPort} from '../../../../src/api/types/v1-pod.js';
import {podHostname} from '../../../../src/kubelet/managers/network/pod-hostname.js';
import {sortPodIps} from '../../../../src/kubelet/managers/network/sort-pod-ips.js';
import {makePortMappings} from '../../../../src/kubelet/managers/network/port-mappings.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';

describe('the hostname of a pod', () => {
  // Proves: PodSpec.hostname, PodSpec.hostnameOverride
  test.each([
    [{}, {hostname: 'web', domain: ''}],
    [{hostname: 'h'}, {hostname: 'h', domain: ''}],
    [{subdomain: 'sub'}, {hostname: 'web', domain: 'sub.default.svc.cluster.local'}],
    [
      {hostnameOverride: 'a.b', subdomain: 'sub', hostname: 'h'},
      {hostname: 'a.b', domain: ''},
    ],
  ])('of %o is %o', (spec, expected) => {
    expect(podHostname(aPod(spec), GOLDEN_NODE)).toEqual(expected);
  });

  test('is truncated to 63 characters without a trailing dash or dot', () => {
    const name = `${'a'.repeat(60)}-.-b`;

    expect(podHostname(aPod({}, {name}), GOLDEN_NODE).hostname).toBe('a'.repeat(60));
  });

  test('of 63 characters is not truncated', () => {
    const name = 'a'.repeat(63);

    expect(podHostname(aPod({}, {name}), GOLDEN_NODE).hostname).toBe(name);
  });
});

describe('pod IPs', () => {
  test.each([
    [['10.0.0.1', 'fd00::1'], ['192.0.2.2'], ['10.0.0.1', 'fd00::1']],
    [['fd00::1', '10.0.0.1'], ['192.0.2.2'], ['10.0.0.1', 'fd00::1']],
    [['10.0.0.1', 'fd00::1'], ['fd00::9'], ['fd00::1', '10.0.0.1']],
    [['10.0.0.1', '10.0.0.2'], ['192.0.2.2'], ['10.0.0.1']],
    [['fd00::1'], ['192.0.2.2'], ['fd00::1']],
    [['<pod IP>'], ['192.0.2.2'], ['<pod IP>']],
    [[], [], []],
  ])('%j on a node with %j are sorted as %j', (podIps, nodeIps, expected) => {
    expect(sortPodIps(podIps, nodeIps)).toEqual(expected);
  });
});

describe('the port mappings of a container', () => {
  const mapped = (ports: readonly ContainerPort[]): unknown =>
    makePortMappings(aPod({containers: [aContainer({ports})]})).map(
      ({containerPort, hostPort, hostIp, protocol}) => [containerPort, hostPort, hostIp, protocol].join(' '),
    );

  test('include ports with and without a host port', () => {
    expect(
      mapped([{containerPort: 80}, {containerPort: 53, hostPort: 53, protocol: 'UDP', hostIP: '::1'}]),
    ).toEqual(['80 0  TCP', '53 53 ::1 UDP']);
  });

  // Proves: ContainerPort.containerPort
  test('have no duplicates', () => {
    expect(
      mapped([
        {containerPort: 80},
        {containerPort: 80},
        {containerPort: 80, protocol: 'UDP'},
        {name: 'a', containerPort: 81},
        {name: 'a', containerPort: 82},
        {containerPort: 83, hostIP: '127.0.0.1'},
        {containerPort: 83, hostIP: '::1'},
      ]),
    ).toEqual(['80 0  TCP', '80 0  UDP', '81 0  TCP', '83 0 127.0.0.1 TCP', '83 0 ::1 TCP']);
  });
});
