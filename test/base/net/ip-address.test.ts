import {expect, test} from 'vitest';
import {ipKind, isUnspecifiedIp, parseIp} from '../../../src/base/net/ip-address.js';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['010.001.0.009', '10.1.0.9'],
  ['2001:DB8:0:0::1', '2001:db8::1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['0.0.0.0', '0.0.0.0'],
  ['0:0::', '::'],
  ['256.0.0.1', undefined],
  ['1.2.3', undefined],
  ['fe80::1%eth0', undefined],
  ['node-1', undefined],
  ['', undefined],
])('%j is the IP address %j', (text, expected) => {
  expect(parseIp(text)).toBe(expected);
});

test.each([
  ['0.0.0.0', 'unspecified'],
  ['::', 'unspecified'],
  ['127.0.1.1', 'loopback'],
  ['::1', 'loopback'],
  ['::12', 'global unicast'],
  ['224.0.0.1', 'multicast'],
  ['239.1.1.1', 'multicast'],
  ['240.0.0.1', 'global unicast'],
  ['ff02::1', 'multicast'],
  ['169.254.1.1', 'link-local unicast'],
  ['fe80::1', 'link-local unicast'],
  ['febf::1', 'link-local unicast'],
  ['fec0::1', 'global unicast'],
  ['255.255.255.255', 'broadcast'],
  ['10.0.0.1', 'global unicast'],
  ['fd00::1', 'global unicast'],
])('%s is %s', (ip, kind) => {
  expect(ipKind(ip)).toBe(kind);
  expect(isUnspecifiedIp(ip)).toBe(kind === 'unspecified');
});
