import {describe, expect, test} from 'vitest';
import {parseStreamingAddress} from '../../../src/streaming/session/streaming-address.js';

describe('parseStreamingAddress', () => {
  test.each([
    ['http://127.0.0.1:4000/exec/abc', {secure: false, host: '127.0.0.1', port: 4000, path: '/exec/abc'}],
    [
      'https://node.example/exec/abc?x=1',
      {secure: true, host: 'node.example', port: 443, path: '/exec/abc?x=1'},
    ],
    [
      '//127.0.0.1:35123/cri/exec/abc',
      {secure: false, host: '127.0.0.1', port: 35123, path: '/cri/exec/abc'},
    ],
    ['//[::]:35123/cri/exec/abc', {secure: false, host: 'localhost', port: 35123, path: '/cri/exec/abc'}],
    ['http://0.0.0.0:1/a', {secure: false, host: '127.0.0.1', port: 1, path: '/a'}],
    ['http://[fd00::1]:1/a', {secure: false, host: 'fd00::1', port: 1, path: '/a'}],
    ['/exec/abc', {secure: false, host: '127.0.0.1', port: 10250, path: '/exec/abc'}],
  ])('%s', (url, address) => {
    expect(parseStreamingAddress(url)).toEqual(address);
  });

  test.each(['', 'nonsense', 'file:///etc/passwd', 'unix:///run/x.sock', 'ftp://h/secret-token'])(
    'rejects "%s" without printing a possible token',
    (url) => {
      expect(() => parseStreamingAddress(url)).toThrow(
        /the runtime returned (an invalid streaming URL|a streaming URL with the unsupported protocol)/,
      );
      expect(() => parseStreamingAddress(url)).not.toThrow(/secret-token/);
    },
  );
});
