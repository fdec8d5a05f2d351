import {describe, expect, test} from 'vitest';
import {decodeResponseBody, parseResponseHead} from '../../../src/streaming/socket/http-response.js';

const UPGRADED =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version:v4.channel.k8s.io \r\n\r\n';

describe('the head of a response', () => {
  test('has a status, a reason and headers without regard to case', () => {
    const head = parseResponseHead(Buffer.from(`${UPGRADED}\x80\x03`, 'latin1'))!;
    expect(head).toMatchObject({status: 101, reason: 'Switching Protocols', length: UPGRADED.length});
    expect(head.headers).toEqual(
      new Map([
        ['upgrade', 'SPDY/3.1'],
        ['x-stream-protocol-version', 'v4.channel.k8s.io'],
      ]),
    );
  });

  test('is incomplete until its last byte', () => {
    for (let length = 0; length < UPGRADED.length; length++)
      expect(parseResponseHead(Buffer.from(UPGRADED.slice(0, length)))).toBeUndefined();
  });

  test('comes after interim responses', () => {
    const interim = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n';
    expect(parseResponseHead(Buffer.from(interim))).toBeUndefined();
    const {status, length, headers} = parseResponseHead(Buffer.from(interim + UPGRADED))!;
    expect({status, length}).toEqual({status: 101, length: interim.length + UPGRADED.length});
    expect([...headers.keys()]).not.toContain('link');
  });

  test('joins the values of a repeated header, and needs no reason', () => {
    const {headers, reason} = parseResponseHead(Buffer.from('HTTP/1.0 500\r\nA: 1\r\na: 2\r\n\r\n'))!;
    expect({value: headers.get('a'), reason}).toEqual({value: '1, 2', reason: ''});
  });

  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', 'the response is not HTTP/1.1'],
    ['HTTP/2', 'HTTP/2 200\r\n\r\n', 'the response is not HTTP/1.1'],
    [
      'a header without a colon',
      'HTTP/1.1 200 OK\r\nno colon\r\n\r\n',
      'the HTTP response has an invalid header',
    ],
    ['a folded header', 'HTTP/1.1 200 OK\r\nA: 1\r\n 2\r\n\r\n', 'the HTTP response has an invalid header'],
    [
      'an endless head',
      `HTTP/1.1 200 OK\r\nA: ${'x'.repeat(16 * 1024)}`,
      'the head of the HTTP response is too long',
    ],
    [
      'endless interim responses',
      'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000),
      'the head of the HTTP response is too long',
    ],
  ])('%s is an error', (_what, text, message) => {
    expect(() => parseResponseHead(Buffer.from(text))).toThrow(message);
  });
});

describe('the body of a response', () => {
  const decode = (headers: Readonly<Record<string, string>>, text: string) => {
    const {content, isComplete} = decodeResponseBody(new Map(Object.entries(headers)), Buffer.from(text));
    return [content.toString(), isComplete];
  };

  test('has the announced length', () => {
    expect(decode({'content-length': '3'}, 'ab')).toEqual(['ab', false]);
    expect(decode({'content-length': '3'}, 'abcd')).toEqual(['abc', true]);
    expect(decode({'content-length': '0'}, '')).toEqual(['', true]);
  });

  test('ends with the connection if no length is announced, or one that is not a number', () => {
    expect(decode({}, 'ab')).toEqual(['ab', false]);
    expect(decode({'content-length': '-1'}, 'ab')).toEqual(['ab', false]);
  });

  test('is joined from chunks, as far as they have come', () => {
    const chunked = {'transfer-encoding': 'gzip, Chunked'};
    const text = '3;name=value\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n';
    expect(decode(chunked, text)).toEqual(['abc0123456789', true]);
    for (let length = 0; length < text.length - 6; length++) {
      const [content, isComplete] = decode(chunked, text.slice(0, length));
      expect('abc0123456789'.startsWith(String(content))).toBe(true);
      expect(isComplete).toBe(false);
    }
    expect(decode(chunked, 'no size\r\nabc')).toEqual(['', false]);
  });
});
