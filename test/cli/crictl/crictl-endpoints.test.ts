import {expect, test} from 'vitest';
import {resolveCrictlAddress, resolveCrictlImageAddress} from '../../../src/cli/crictl/crictl-endpoints.js';

// Addresses according to crictl 1.36's errors, or where it connects to.
test.each([
  ['/a/cri.sock', '/a/cri.sock'],
  ['unix:///a/cri.sock', '/a/cri.sock'],
  ['unix:/a/cri.sock', '/a/cri.sock'],
  ['unix://a/cri.sock', '/cri.sock'],
  ['a/cri.sock', '/cri.sock'],
  ['./cri.sock', '/cri.sock'],
  ['UNIX:///a/cri.sock#f', '/a/cri.sock'],
  ['/a/cri.sock?q=1', '/a/cri.sock'],
  ['unix:///a/b%20c d', '/a/b c d'],
])('the address of %s is %s', (endpoint, address) => {
  expect(resolveCrictlAddress(endpoint, 'ps')).toBe(address);
});

test.each([['cri.sock'], ['unix://cri.sock'], ['unix:cri.sock']])('%s has no address', (endpoint) => {
  expect(() => resolveCrictlAddress(endpoint, 'ps')).toThrow(
    `validate service connection: validate CRI v1 runtime API for endpoint "${endpoint}": ` +
      'rpc error: code = Unavailable desc = dns resolver: missing address',
  );
});

test.each([
  [' /a', 'parse "unix:// /a": invalid character " " in host name'],
  ['unix:///a%zz', 'parse "unix://unix:///a%zz": invalid URL escape "%zz"'],
  ['tcp://127.0.0.1:1', 'only support unix socket endpoint'],
])('%j is rejected as crictl does', (endpoint, message) => {
  expect(() => resolveCrictlAddress(endpoint, 'ps')).toThrow(message);
});

test('only commands that need images read the endpoint of the images', () => {
  expect(resolveCrictlImageAddress('http://x', 'version')).toBeUndefined();
  expect(() => resolveCrictlImageAddress('http://x', 'images')).toThrow('protocol "http" not supported');
});
