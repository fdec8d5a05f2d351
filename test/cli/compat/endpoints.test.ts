import {expect, test} from 'vitest';
import {crictlAddress} from '../../../src/cli/compat/endpoints.js';

// What crictl 1.36 says of them, or where it looks.
test.each([
  ['/a/cri.sock', 'unix:///a/cri.sock'],
  ['unix:///a/cri.sock', 'unix:///a/cri.sock'],
  ['unix:/a/cri.sock', 'unix:///a/cri.sock'],
  ['unix://a/cri.sock', 'unix:///cri.sock'],
  ['a/cri.sock', 'unix:///cri.sock'],
  ['./cri.sock', 'unix:///cri.sock'],
])('%s is %s', (endpoint, address) => {
  expect(crictlAddress(endpoint, 'ps')).toBe(address);
});

test.each([['cri.sock'], ['unix://cri.sock'], ['unix:cri.sock']])('%s has no address', (endpoint) => {
  expect(() => crictlAddress(endpoint, 'ps')).toThrow(
    `validate service connection: validate CRI v1 runtime API for endpoint "${endpoint}": ` +
      'rpc error: code = Unavailable desc = dns resolver: missing address',
  );
});
