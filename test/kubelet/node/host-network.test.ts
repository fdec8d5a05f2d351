import {describe, expect, test} from 'vitest';
import {
  chooseHostIp,
  findNodeIpProblem,
  parseDefaultRoutes,
  type HostInterface,
  type HostNetwork,
} from '../../../src/kubelet/node/host-network.js';

const anInterface = (name: string, ...ips: readonly string[]): HostInterface => ({
  name,
  isLoopback: name === 'lo',
  ips,
});

const INTERFACES = [
  anInterface('lo', '127.0.0.1', '::1'),
  anInterface('cni0', '10.88.0.1', 'fe80::1'),
  anInterface('eth0', '169.254.7.7', '192.0.2.2', '192.0.2.3', 'fe80::2', 'fd00::2'),
  anInterface('eth1', '198.51.100.1', 'fd00::5'),
];

const aNetwork = (fields: Partial<HostNetwork> = {}): HostNetwork => ({
  interfaces: INTERFACES,
  defaultRoutes: {IPv4: ['eth0'], IPv6: ['eth1']},
  ...fields,
});

test('default routes are those to any destination, of IPv6 with a gateway', () => {
  const zeros = '0'.repeat(32);
  const ipv4 = [
    'Iface\tDestination\tGateway \tFlags',
    'eth1\t000200C0\t00000000\t0001',
    'eth0\t00000000\t010200C0\t0003',
    'eth1\t00000000\t020200C0\t0003',
    '',
  ].join('\n');
  const ipv6 = [
    `fd${'0'.repeat(30)} 40 ${zeros} 00 ${zeros} 00000100 00000001 00000000 00000001     eth0`,
    `${zeros} 00 ${zeros} 00 fd${'0'.repeat(29)}1 00000400 00000002 00000000 00000003     eth0`,
    `${zeros} 00 ${zeros} 00 ${zeros} ffffffff 00000001 00000000 00200200       lo`,
    '',
  ].join('\n');
  expect(parseDefaultRoutes(ipv4, ipv6)).toEqual({IPv4: ['eth0', 'eth1'], IPv6: ['eth0']});
});

describe('the IP address of the machine', () => {
  test.each<[string, Partial<HostNetwork>, 'IPv4' | 'IPv6', string]>([
    ['is that of the IPv4 default route', {}, 'IPv4', '192.0.2.2'],
    ['is that of the IPv6 default route if that is preferred', {}, 'IPv6', 'fd00::5'],
    [
      'is of the other family without a route',
      {defaultRoutes: {IPv4: ['eth0'], IPv6: []}},
      'IPv6',
      '192.0.2.2',
    ],
    [
      'is that of the next route if an interface has none',
      {defaultRoutes: {IPv4: ['down0', 'eth1'], IPv6: []}},
      'IPv4',
      '198.51.100.1',
    ],
    [
      'is one of the loopback interface if that of the route has link-local ones only',
      {
        interfaces: [anInterface('lo', '127.0.0.1', '203.0.113.9'), anInterface('eth0', '169.254.1.1')],
        defaultRoutes: {IPv4: ['eth0'], IPv6: []},
      },
      'IPv4',
      '203.0.113.9',
    ],
    ['is the first one without lists of routes', {defaultRoutes: undefined}, 'IPv4', '10.88.0.1'],
  ])('%s', (_, fields, family, expected) => {
    expect(chooseHostIp(aNetwork(fields), family)).toBe(expected);
  });

  test.each<[string, Partial<HostNetwork>]>([
    [
      'no default routes found in "/proc/net/route" or "/proc/net/ipv6_route"',
      {defaultRoutes: {IPv4: [], IPv6: []}},
    ],
    ['unable to select an IP from default routes.', {defaultRoutes: {IPv4: ['down0'], IPv6: []}}],
    [
      'no acceptable interface with global unicast address found on host',
      {defaultRoutes: undefined, interfaces: []},
    ],
  ])('cannot be found: %s', (message, fields) => {
    expect(() => chooseHostIp(aNetwork(fields), 'IPv4')).toThrow(new Error(message));
  });
});

test.each([
  ['192.0.2.3', undefined],
  ['fd00::2', undefined],
  ['127.0.0.1', "nodeIP can't be loopback address"],
  ['224.0.0.1', "nodeIP can't be a multicast address"],
  ['169.254.7.7', "nodeIP can't be a link-local unicast address"],
  ['::', "nodeIP can't be an all zeros address"],
  ['203.0.113.1', 'node IP: "203.0.113.1" not found in the host\'s network interfaces'],
])('the node IP %s is valid unless %j', (ip, problem) => {
  expect(findNodeIpProblem(ip, aNetwork())).toBe(problem);
});
