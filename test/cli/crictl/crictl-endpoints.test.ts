import {expect, test} from 'vitest';
import {resolveCrictlAddress} from '../../../src/cli/crictl/crictl-endpoints.js';

// Addresses according to crictl 1.36's errors, or where it connects to.
test.each([
  ['/a/cri.sock', 'unix:///a/cri.sock'],
  ['unix:///a/cri.sock', 'unix:///a/cri.sock'],
  ['unix:/a/cri.sock', 'unix:///a/cri.sock'],
  ['unix://a/cri.sock', 'unix:///cri.sock'],
  ['a/cri.sock', 'unix:///cri.sock'],
  ['./cri.sock', 'unix:///cri.sock'],
])('the address of %s is %s', (endpoint, address) => {
  expect(resolveCrictlAddress(endpoint, 'ps')).toBe(address);
});

test.each([['cri.sock'], ['unix://cri.sock'], ['unix:cri.sock']])('%s has no address', (endpoint) => {
  expect(() => resolveCrictlAddress(endpoint, 'ps')).toThrow(
    `validate service connection: validate CRI v1 runtime API for endpoint "${endpoint}": ` +
      'rpc error: code = Unavailable desc = dns resolver: missing address',
  );
});
