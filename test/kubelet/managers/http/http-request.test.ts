import {describe, expect, test} from 'vitest';
import type {Container, HTTPGetAction} from '../../../../src/api/types/v1-pod.js';
import {
  HOOK_CLIENT,
  PROBE_CLIENT,
  createHttpGetRequest,
  formatRequestUrl,
} from '../../../../src/kubelet/managers/http/http-request.js';

const WEB: Container = {name: 'web', image: 'x', ports: [{name: 'http', containerPort: 8080}]};
const request = (action: Partial<HTTPGetAction>) =>
  createHttpGetRequest({port: 80, ...action}, WEB, '10.0.0.1', HOOK_CLIENT);

describe('the URL of an HTTP hook', () => {
  test.each<[Partial<HTTPGetAction>, string]>([
    [{path: '/bye'}, 'http://10.0.0.1:80/bye'],
    [{path: '/', scheme: 'HTTPS', port: 443}, 'https://10.0.0.1:443/'],
    [{path: '/', scheme: 'HTTP', host: 'example.test'}, 'http://example.test:80/'],
    [{path: '/', host: 'fd00::1'}, 'http://[fd00::1]:80/'],
    [{path: '/', host: ''}, 'http://10.0.0.1:80/'],
    [{path: '/', port: 'http'}, 'http://10.0.0.1:8080/'],
    [{path: '/', port: '81'}, 'http://10.0.0.1:81/'],
    [{path: 'bye'}, 'http://10.0.0.1:80/bye'],
    [{}, 'http://10.0.0.1:80/'],
    [{path: '/a?b=1&c=%20#part'}, 'http://10.0.0.1:80/a?b=1&c=%20'],
    [{path: '/a?b=?'}, 'http://10.0.0.1:80/a?b=?'],
    [{path: '?b'}, 'http://10.0.0.1:80/?b'],
    [{path: '/a b/ü/%41/(x)/;v=1'}, 'http://10.0.0.1:80/a%20b/%C3%BC/%41/(x)/;v=1'],
    [{path: '/a?b c'}, 'http://10.0.0.1:80/a?b%20c'],
    [{path: '/../a/./b'}, 'http://10.0.0.1:80/../a/./b'],
    [{path: '/100%?x#y'}, 'http://10.0.0.1:80/100%25%3Fx%23y'],
  ])('with %j is %s', (action, expected) => {
    expect(formatRequestUrl(request(action))).toBe(expected);
  });

  test.each<[HTTPGetAction['port'], string]>([
    ['https', 'strconv.Atoi: parsing "https": invalid syntax'],
    ['', 'strconv.Atoi: parsing "": invalid syntax'],
    [0, 'invalid port number: 0'],
    [65_536, 'invalid port number: 65536'],
  ])('with the port %j is an error', (port, expected) => {
    expect(() => request({port})).toThrow(expected);
  });
});

describe('the headers of an HTTP hook', () => {
  const headers = (...given: readonly (readonly [string, string])[]) =>
    request({httpHeaders: given.map(([name, value]) => ({name, value}))});
  const byDefault = {'user-agent': ['kube-lifecycle/1.36'], accept: ['*/*']};
  const compressed = {'Accept-Encoding': 'gzip'};

  test.each<[string, readonly (readonly [string, string])[], object, object]>([
    ['are those of the kubelet by default', [], byDefault, compressed],
    [
      'include the given ones with all values of a name',
      [
        ['X-A', '1'],
        ['x-a', '2'],
      ],
      {...byDefault, 'x-a': ['1', '2']},
      compressed,
    ],
    [
      'override those of the kubelet',
      [
        ['User-Agent', 'me'],
        ['ACCEPT', 'text/plain'],
        ['Accept-Encoding', 'identity'],
      ],
      {'user-agent': ['me'], accept: ['text/plain'], 'accept-encoding': ['identity']},
      {},
    ],
    [
      'remove User-Agent and Accept if they are empty',
      [
        ['Accept', ''],
        ['User-Agent', ''],
      ],
      {},
      compressed,
    ],
    [
      'have only the first Host',
      [
        ['Host', 'a.test'],
        ['Host', 'b.test'],
      ],
      {...byDefault, host: ['a.test']},
      compressed,
    ],
    [
      'omit those that the HTTP client sets',
      [
        ['Content-Length', '9'],
        ['Trailer', 'x'],
      ],
      byDefault,
      compressed,
    ],
    ['ask for no compressed part', [['Range', 'bytes=0-9']], {...byDefault, range: ['bytes=0-9']}, {}],
  ])('%s', (_title, given, expected, added) => {
    expect(headers(...given)).toMatchObject({headers: expected, added});
  });
});

test.each([
  [undefined, {Connection: 'close'}],
  ['keep-alive', {Connection: 'close'}],
  ['Upgrade, Close', {}],
])('a probe with the Connection header %j adds %j', (value, added) => {
  const httpHeaders = value === undefined ? [] : [{name: 'Connection', value}];
  expect(createHttpGetRequest({port: 80, httpHeaders}, WEB, '10.0.0.1', PROBE_CLIENT).added).toEqual(added);
});
