import {expect, test} from 'vitest';
import {parseNodeIps} from '../../../src/features/manifests/node-ips.js';

test.each<[readonly string[], readonly string[], readonly string[]]>([
  [[], [], []],
  [[''], [], []],
  [['192.0.2.1'], ['192.0.2.1'], []],
  [[' FD00::1 ', '192.0.2.01'], ['fd00::1', '192.0.2.1'], []],
  [['::'], ['::'], []],
  [['nonsense', '192.0.2.1', ''], ['192.0.2.1'], ['nonsense', '']],
])('--node-ip %j is %j, without %j', (values, nodeIps, invalid) => {
  expect(parseNodeIps(values)).toEqual({nodeIps, invalid});
});

test.each([
  ['192.0.2.1,192.0.2.2', 'must contain either a single IP or a dual-stack pair of IPs'],
  ['192.0.2.1,fd00::1,fd00::2', 'must contain either a single IP or a dual-stack pair of IPs'],
  ['192.0.2.1,::', "dual-stack node IP cannot include '0.0.0.0' or '::'"],
])('--node-ip %s is refused', (text, problem) => {
  expect(() => parseNodeIps(text.split(','))).toThrow(`bad --node-ip "${text}": ${problem}`);
});
