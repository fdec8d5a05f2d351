import {expect, test} from 'vitest';
import {
  checkCrictlServices,
  resolveCrictlAddress,
  resolveCrictlImageAddress,
} from '../../../src/cli/crictl/crictl-endpoints.js';
import {connect} from '../../../src/cri/index.js';

/** Checks the runtime at an endpoint whose socket does not exist. */
const check = async (endpoint: string): Promise<void> => {
  const connection = connect(resolveCrictlAddress(endpoint));
  const {signal} = new AbortController();
  try {
    await checkCrictlServices({connection, endpoint, imageEndpoint: undefined, needs: ['runtime'], signal});
  } finally {
    connection.close();
  }
};

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
  expect(resolveCrictlAddress(endpoint)).toBe(address);
});

test.each([['cri.sock'], ['unix://cri.sock'], ['unix:cri.sock']])('%s has no address', async (endpoint) => {
  await expect(check(endpoint)).rejects.toThrow(
    `validate service connection: validate CRI v1 runtime API for endpoint "${endpoint}": ` +
      'rpc error: code = Unavailable desc = dns resolver: missing address',
  );
});

test.each([
  [' /a', 'parse "unix:// /a": invalid character " " in host name'],
  ['unix:///a%zz', 'parse "unix://unix:///a%zz": invalid URL escape "%zz"'],
  ['tcp://127.0.0.1:1', 'only support unix socket endpoint'],
])('%j is rejected as crictl does', async (endpoint, message) => {
  await expect(check(endpoint)).rejects.toThrow(message);
});

test('only commands that need images read the endpoint of the images', () => {
  expect(resolveCrictlImageAddress('/x', ['runtime'])).toBeUndefined();
  expect(resolveCrictlImageAddress('/x', ['runtime', 'images'])).toBe('/x');
});
