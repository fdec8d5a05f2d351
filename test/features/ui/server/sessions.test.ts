import {expect, test} from 'vitest';
import {
  MAX_SESSIONS,
  SESSION_IDLE_MS,
  Sessions,
  TOKEN_LIFETIME_MS,
} from '../../../../src/features/ui/server/sessions.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

function signIn(sessions: Sessions): string {
  return sessions.redeem(sessions.createToken()) ?? '';
}

/** Uses a session for a moment, and reports whether there is one. */
function isUsed(sessions: Sessions, key: string): boolean {
  using use = sessions.use(key);
  return use !== undefined;
}

test('a token of 256 bits is exchanged once for a key', () => {
  const sessions = new Sessions(new FakeClock());
  const token = sessions.createToken();
  expect(Buffer.from(token, 'base64url')).toHaveLength(32);
  const key = sessions.redeem(token);
  expect(key).toMatch(/^[\w-]{43}$/);
  expect(isUsed(sessions, key ?? '')).toBe(true);
  expect(sessions.redeem(token)).toBeUndefined();
});

test.each(['', 'x', 'x'.repeat(100_000)])('a wrong token is refused', (token) => {
  const sessions = new Sessions(new FakeClock());
  const right = sessions.createToken();
  expect(sessions.redeem(token)).toBeUndefined();
  expect(isUsed(sessions, token)).toBe(false);
  // A wrong one does not use up the right one; and it is no key.
  expect(isUsed(sessions, right)).toBe(false);
  expect(sessions.redeem(right)).toBeDefined();
});

test('a token expires', () => {
  const clock = new FakeClock();
  const sessions = new Sessions(clock);
  const [early, late] = [sessions.createToken(), sessions.createToken()];
  clock.elapse(TOKEN_LIFETIME_MS - 1);
  expect(sessions.redeem(early)).toBeDefined();
  clock.elapse(1);
  expect(sessions.redeem(late)).toBeUndefined();
});

test('a session ends when it is not used', () => {
  const clock = new FakeClock();
  const sessions = new Sessions(clock);
  const key = signIn(sessions);
  clock.elapse(SESSION_IDLE_MS - 1);
  expect(isUsed(sessions, key)).toBe(true);
  clock.elapse(SESSION_IDLE_MS - 1);
  expect(isUsed(sessions, key)).toBe(true);
  clock.elapse(SESSION_IDLE_MS);
  expect(isUsed(sessions, key)).toBe(false);
});

test('the number of links and sessions is limited; those that were not used the longest end', () => {
  const sessions = new Sessions(new FakeClock());
  const tokens = Array.from({length: 9}, () => sessions.createToken());
  expect(sessions.redeem(tokens[0] ?? '')).toBeUndefined();
  const [first, second] = [signIn(sessions), signIn(sessions)];
  for (let count = 2; count < MAX_SESSIONS; count += 1) signIn(sessions);
  expect(isUsed(sessions, first)).toBe(true);
  signIn(sessions);
  expect([isUsed(sessions, first), isUsed(sessions, second)]).toEqual([true, false]);
});

test('a session goes on as long as a stream uses it', () => {
  const clock = new FakeClock();
  const sessions = new Sessions(clock);
  const key = signIn(sessions);
  const stream = sessions.use(key)!;
  clock.elapse(2 * SESSION_IDLE_MS);
  expect(isUsed(sessions, key)).toBe(true);
  clock.elapse(2 * SESSION_IDLE_MS);
  stream[Symbol.dispose]();
  clock.elapse(SESSION_IDLE_MS - 1);
  expect(isUsed(sessions, key)).toBe(true);
  clock.elapse(SESSION_IDLE_MS);
  expect(isUsed(sessions, key)).toBe(false);
});

test('a new session replaces one without a stream first, and the streams of one that it replaces end', () => {
  const sessions = new Sessions(new FakeClock());
  const streamed = signIn(sessions);
  using stream = sessions.use(streamed);
  const others = Array.from({length: MAX_SESSIONS}, () => signIn(sessions));
  expect([isUsed(sessions, streamed), isUsed(sessions, others[0]!)]).toEqual([true, false]);
  const uses = others.slice(1).map((key) => sessions.use(key)!);
  signIn(sessions);
  expect(stream!.signal.aborted).toBe(true);
  expect(stream!.signal.reason).toMatchObject({status: 401});
  expect(uses.filter(({signal}) => signal.aborted)).toEqual([]);
  // The end of its stream does not bring it back.
  stream![Symbol.dispose]();
  expect(isUsed(sessions, streamed)).toBe(false);
});
