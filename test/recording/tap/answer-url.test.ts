import {expect, test} from 'vitest';
import {encode} from '../../../src/cri/codec.js';
import {AnswerUrl} from '../../../src/recording/tap/answer-url.js';

const URL = 'http://127.0.0.1:1234/exec/abcdefgh';
const OTHER = 'http://127.0.0.1:5678/exec/12345678';

/** Returns the body of a response with the URL. */
function body(url: string, flag = 0): Buffer {
  const message = encode('ExecResponse', {url});
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flag);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** Passes a body through in parts, and returns what the client gets. */
function passed(sent: Buffer, size: number, replacement: string | undefined): Buffer {
  const answer = new AnswerUrl({replace: () => replacement, onOmitted: () => undefined});
  const parts: Buffer[] = [];
  for (let at = 0; at < sent.length; at += size) {
    const part = Buffer.from(sent.subarray(at, at + size));
    parts.push(part);
    answer.push(part);
    expect(answer.isIncomplete).toBe(sent[0] === 0 && at + size < sent.length);
  }
  return Buffer.concat(parts);
}

test.each([1, 3, 5, 7, 100])('overwrites the URL of a response in parts of %i bytes', (size) => {
  expect(passed(body(URL), size, OTHER)).toEqual(body(OTHER));
});

test.each([
  ['without a replacement', body(URL), undefined],
  ['with a replacement of another length', body(URL), `${OTHER}9`],
  ['without a URL', body(''), OTHER],
])('leaves a response %s', (_, sent, replacement) => {
  expect(passed(sent, 100, replacement)).toEqual(sent);
});

test.each([
  ['is compressed', body(URL, 1), 'the response with its URL is compressed'],
  ['is not a message', Buffer.from([0, 0, 0, 0, 2, 0x0a, 0x50]), 'the response with its URL is malformed'],
  ['is too long', Buffer.from([0, 1, 0, 0, 0, 0x0a]), 'the response with its URL is too long'],
])('leaves a response that %s, and says why', (_, sent, reason) => {
  const reasons: string[] = [];
  const answer = new AnswerUrl({replace: () => OTHER, onOmitted: (each) => reasons.push(each)});
  const part = Buffer.from(sent);
  answer.push(part);
  expect({part, isDone: answer.isDone, reasons}).toEqual({part: sent, isDone: true, reasons: [reason]});
});

test.each([
  ['another length', body(URL), `${OTHER}9`, ['its URL cannot be replaced by one of the same length']],
  ['no replacement, whose reason was reported', body(URL), undefined, []],
  ['no URL', body(''), OTHER, []],
])('says why a response is left, if it has %s', (_, sent, replacement, expected) => {
  const reasons: string[] = [];
  new AnswerUrl({replace: () => replacement, onOmitted: (each) => reasons.push(each)}).push(sent);
  expect(reasons).toEqual(expected);
});
