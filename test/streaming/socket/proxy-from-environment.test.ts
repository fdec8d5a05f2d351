import {describe, expect, test} from 'vitest';
import {parseStreamingAddress} from '../../../src/streaming/session/streaming-address.js';
import {proxyFromEnvironment} from '../../../src/streaming/socket/connect-socket.js';

const proxy = (url: string, env: Record<string, string>): string | undefined =>
  proxyFromEnvironment(parseStreamingAddress(url), env)?.host;

describe('proxyFromEnvironment', () => {
  const env = {HTTP_PROXY: 'http://proxy:3128', HTTPS_PROXY: 'secure-proxy:3129'};

  test('depends on the scheme', () => {
    expect(proxy('http://node:1/x', env)).toBe('proxy:3128');
    expect(proxy('https://node:1/x', env)).toBe('secure-proxy:3129');
    expect(proxy('http://node:1/x', {http_proxy: 'http://low:1'})).toBe('low:1');
    expect(proxy('http://node:1/x', {HTTP_PROXY: '', http_proxy: 'http://low:1'})).toBe('low:1');
    expect(proxy('http://node:1/x', {})).toBeUndefined();
  });

  test.each([
    'http://127.0.0.1:1/x',
    'http://localhost:1/x',
    'http://[::1]:1/x',
    '//[::]:1/x',
    'http://127.8.8.8/x',
  ])('is not used for this machine: %s', (url) => {
    expect(proxy(url, env)).toBeUndefined();
  });

  test.each([
    ['*', true],
    ['node.example', true],
    ['example', true],
    ['.example', true],
    ['*.example', true],
    ['node.example:8080', true],
    ['node.example:1', false],
    ['.node.example', false],
    ['*.node.example', false],
    ['ode.example', false],
    ['other, NODE.example', true],
    ['', false],
  ])('NO_PROXY=%s', (rules, exempt) => {
    const found = proxy('http://node.example:8080/x', {...env, NO_PROXY: rules});
    expect(found).toBe(exempt ? undefined : 'proxy:3128');
  });

  test.each([
    ['10.0.0.0/8', true],
    ['10.1.2.3', true],
    ['11.0.0.0/8', false],
    ['fd00::/8', false],
    ['10.0.0.0/99', false],
  ])('NO_PROXY=%s for an address', (rules, exempt) => {
    expect(proxy('http://10.1.2.3/x', {...env, NO_PROXY: rules})).toBe(exempt ? undefined : 'proxy:3128');
  });

  test('rejects other proxies without printing the password', () => {
    const socks = {HTTP_PROXY: 'socks5://user:geheim@proxy:1'};
    expect(() => proxy('http://node/x', socks)).toThrow('HTTP_PROXY must be an HTTP proxy URL');
  });
});
