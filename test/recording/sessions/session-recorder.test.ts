import {afterEach, beforeEach, expect, test, vi} from 'vitest';
import {omit} from '../../../src/base/omit.js';
import {maskSecretLine} from '../../../src/cli/redaction/mask-secrets.js';
import type {JsonObject} from '../../../src/format/json.js';
import {SessionRecorder} from '../../../src/recording/sessions/session-recorder.js';
import type {StreamLabel} from '../../../src/recording/sessions/session-sink.js';
import {ByteBudget} from '../../../src/recording/tap/byte-budget.js';

const STDOUT = {stream: 'stdout'};
const STDERR = {stream: 'stderr'};
/** Time after which collected data is written, in ms. */
const COLLECTED_MS = 100;
const BUDGET_BYTES = 1e7;

beforeEach(() => {
  vi.useFakeTimers({toFake: ['setTimeout', 'clearTimeout']});
});
afterEach(() => {
  vi.useRealTimers();
});

/** Starts to record a session. */
function aSession({maxMessageBytes = 1e6} = {}) {
  const lines: JsonObject[] = [];
  const budget = new ByteBudget(BUDGET_BYTES);
  const recorder = new SessionRecorder({
    write: (line) => lines.push(line),
    clock: {now: () => 0, monotonic: () => 0},
    limits: {maxMessageBytes, budget},
    keeps: {client: true, server: true},
    maskLine: maskSecretLine,
  });
  const session = recorder.start({call: 1, method: 'Exec'}, undefined);
  return {
    send: (data: string | Buffer, label: StreamLabel = STDOUT): void => {
      session.onData(label, 'server', Buffer.from(data as string));
    },
    session,
    pause: (): void => void vi.advanceTimersByTime(COLLECTED_MS),
    /** Ends the session and returns the lines of data, without what all have. */
    end: (): readonly JsonObject[] => {
      session.end({by: 'client', status: 101, subprotocol: undefined, isUnreadable: false});
      expect(budget.take(BUDGET_BYTES), 'all memory is given back').toBe(true);
      return lines
        .filter(({event}) => event === 'data')
        .map((line) => omit(line, 'time', 'session', 'event', 'from'));
    },
  };
}

const base64 = (...parts: readonly (string | Buffer)[]): string =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string))).toString('base64');

test('a character that is cut by the end of a line does not switch off masking', () => {
  const {send, pause, end} = aSession();
  const bytes = Buffer.from('API_TOKEN=geheim\nä');
  send(bytes.subarray(0, -1));
  pause();
  send(bytes.subarray(-1));
  expect(end()).toEqual([
    {stream: 'stdout', bytes: 18, text: 'API_TOKEN=***\n'},
    {stream: 'stdout', bytes: 1, text: 'ä'},
  ]);
});

test.each([
  ['before', [Buffer.of(0xff), '\nAPI_TOKEN=geheim'], [Buffer.of(0xff), '\nAPI_TOKEN=***']],
  ['in', ['API_TOKEN=ge', Buffer.of(0xff), 'im\n'], ['API_TOKEN=***\n']],
  ['with the last byte of a no-break space in', ['API_TOKEN=gà\xa0m', Buffer.of(0xff)], ['API_TOKEN=***']],
])('secrets are masked in data with a byte of no text %s them', (_, sent, shown) => {
  const {send, end} = aSession();
  for (const part of sent) send(part);
  const expected = Buffer.concat(shown.map((part) => Buffer.from(part as string)));
  const [line = {}] = end();
  expect(line['text'] ?? line['base64']).toBe(
    'text' in line ? expected.toString() : expected.toString('base64'),
  );
});

test('a character whose end does not come is recorded as bytes', () => {
  const {send, pause, end} = aSession();
  send(Buffer.from('ok€').subarray(0, -1));
  pause();
  pause();
  expect(end()).toEqual([
    {stream: 'stdout', bytes: 4, text: 'ok'},
    {stream: 'stdout', bytes: 0, base64: base64(Buffer.from('€').subarray(0, 2))},
  ]);
});

test('a stream that ends within a character is recorded as bytes at once', () => {
  const {send, session, end} = aSession();
  send(Buffer.from('ok€').subarray(0, -1));
  session.onStreamEnd(STDOUT, 'server');
  expect(end()).toEqual([
    {stream: 'stdout', bytes: 4, base64: base64(Buffer.from('ok€').subarray(0, -1)), end: true},
  ]);
});

test('streams that take turns have one line each', () => {
  const {send, end} = aSession();
  for (const part of ['a', 'b', 'c']) {
    send(part);
    send(part.toUpperCase(), STDERR);
  }
  expect(end()).toEqual([
    {stream: 'stdout', bytes: 3, text: 'abc'},
    {stream: 'stderr', bytes: 3, text: 'ABC'},
  ]);
});

test('data of a stream that follows one of the same name has its own line', () => {
  const {send, session, end} = aSession();
  send('a');
  session.onStreamEnd(STDOUT, 'server');
  send('b');
  expect(end()).toEqual([
    {stream: 'stdout', bytes: 1, text: 'a', end: true},
    {stream: 'stdout', bytes: 1, text: 'b'},
  ]);
});

test('data of more streams than are collected at a time is written before it', () => {
  const {send, end} = aSession();
  const ports = Array.from({length: 65}, (_, index) => index + 1);
  for (const port of ports) send('a', {stream: 'data', port});
  send('b', {stream: 'data', port: 1});
  const lines = end();
  expect(lines).toHaveLength(66);
  expect(lines.at(-1)).toMatchObject({port: 1, text: 'b'});
});

test('a line that is too long to be examined ends the content, with the reason', () => {
  const {send, end} = aSession();
  send(`first\nAPI_TOKEN=${'ä'.repeat(1e5)}\nlast\n`);
  expect(end()).toEqual([
    {stream: 'stdout', bytes: 200_022, text: 'first\nAPI_TOKEN=***', contentOmitted: 'line too long'},
  ]);
});

test('a long line whose end is cut off within a character stays text', () => {
  const {send, end} = aSession();
  const long = 'ä'.repeat(40_000);
  send(`x${long} TOKEN=a\n`);
  expect(end()).toEqual([
    {stream: 'stdout', bytes: 80_010, text: `x${'ä'.repeat(32_767)}`, contentOmitted: 'line too long'},
  ]);
});

test('a long line that certainly has no secret is recorded', () => {
  const {send, end} = aSession();
  const text = 'x'.repeat(1e5);
  send(text);
  expect(end()).toEqual([{stream: 'stdout', bytes: 1e5, text}]);
});

test('a character before a gap is not carried over it', () => {
  const {send, pause, end} = aSession({maxMessageBytes: 10});
  send(Buffer.from('ok€').subarray(0, -1));
  send('x'.repeat(10));
  pause();
  send('more');
  expect(end()).toEqual([
    {stream: 'stdout', bytes: 14, text: 'ok', contentOmitted: 'too large'},
    {stream: 'stdout', bytes: 4, text: 'more'},
  ]);
});
