import {X509Certificate} from 'node:crypto';
import {expect, test} from 'vitest';
import {checkHost, checkOrigin} from '../../../../src/features/ui/server/request-guard.js';
import {createSelfSignedPair} from '../../../../src/format/x509/self-signed-certificate.js';

const PLAIN = {address: '127.0.0.1', port: 7070};

function isAccepted(host: string | undefined, address: Parameters<typeof checkHost>[1]): boolean {
  try {
    checkHost({...(host !== undefined && {host})}, address);
    return true;
  } catch (error) {
    expect(error).toMatchObject({status: 421});
    return false;
  }
}

test.each([
  ['127.0.0.1:7070', true],
  ['localhost:7070', true],
  ['LOCALHOST:7070', true],
  ['[::1]:7070', true],
  [undefined, false],
  ['', false],
  ['127.0.0.1', false],
  ['127.0.0.1:80', false],
  ['127.0.0.1:17070', false],
  ['127.0.0.2:7070', false],
  ['evil.example:7070', false],
  ['127.0.0.1.evil.example:7070', false],
  ['localhost.:7070', false],
  ['evil@127.0.0.1:7070', false],
  ['127.0.0.1:7070:7070', false],
  ['127.0.0.1:7070, evil.example', false],
])('Host %j is accepted: %j', (host, accepted) => {
  expect(isAccepted(host, PLAIN)).toBe(accepted);
});

test('browsers omit the default port', () => {
  expect(isAccepted('localhost', {...PLAIN, port: 80})).toBe(true);
  expect(isAccepted('localhost', {...PLAIN, port: 443})).toBe(false);
});

test('with TLS, the names of the certificate are accepted', () => {
  const pair = createSelfSignedPair({
    commonName: 'node',
    names: ['node.example', '10.0.0.7'],
    notBeforeMs: Date.now() - 1000,
    notAfterMs: Date.now() + 1_000_000,
  });
  const address = {
    address: '0.0.0.0',
    port: 7070,
    certificate: new X509Certificate(pair.certificate),
  };
  expect(isAccepted('node.example:7070', address)).toBe(true);
  expect(isAccepted('10.0.0.7:7070', address)).toBe(true);
  expect(isAccepted('other.example:7070', address)).toBe(false);
  expect(isAccepted('10.0.0.8:7070', address)).toBe(false);
});

const HOST = '127.0.0.1:7070';

test.each([
  [{}, false, true],
  [{}, true, false],
  [{origin: 'http://127.0.0.1:7070'}, true, true],
  [{origin: 'http://127.0.0.1:7070', 'sec-fetch-site': 'same-origin'}, true, true],
  [{origin: 'https://127.0.0.1:7070'}, true, false],
  [{origin: 'http://localhost:7070'}, true, false],
  [{origin: 'http://127.0.0.1:7071'}, true, false],
  [{origin: 'null'}, true, false],
  [{origin: 'http://evil.example'}, false, false],
  [{'sec-fetch-site': 'cross-site'}, false, false],
  // Another port of the same host.
  [{'sec-fetch-site': 'same-site'}, false, false],
  [{'sec-fetch-site': 'none'}, false, false],
])('headers %j, a change: %j, are accepted: %j', (headers, isChange, accepted) => {
  const check = (): void => {
    checkOrigin({host: HOST, ...headers}, {isChange, isSecure: false});
  };
  if (accepted) check();
  else expect(check).toThrow('does not come from the page');
});
