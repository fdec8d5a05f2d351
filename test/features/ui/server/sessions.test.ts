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

test('a token of 256 bits is exchanged once for a key', () => {
  const sessions = new Sessions(new FakeClock());
  const token = sessions.createToken();
  expect(Buffer.from(token, 'base64url')).toHaveLength(32);
  const key = sessions.redeem(token);
  expect(key).toMatch(/^[\w-]{43}$/);
  expect(sessions.use(key ?? '')).toBe(true);
  expect(sessions.redeem(token)).toBeUndefined();
});

test.each(['', 'x', 'x'.repeat(100_000)])('a wrong token is refused', (token) => {
  const sessions = new Sessions(new FakeClock());
  const right = sessions.createToken();
  expect(sessions.redeem(token)).toBeUndefined();
  expect(sessions.use(token)).toBe(false);
  // A wrong one does not use up the right one; and it is no key.
  expect(sessions.use(right)).toBe(false);
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
  expect(sessions.use(key)).toBe(true);
  clock.elapse(SESSION_IDLE_MS - 1);
  expect(sessions.use(key)).toBe(true);
  clock.elapse(SESSION_IDLE_MS);
  expect(sessions.use(key)).toBe(false);
});

test('the number of links and sessions is limited; those that were not used the longest end', () => {
  const sessions = new Sessions(new FakeClock());
  const tokens = Array.from({length: 9}, () => sessions.createToken());
  expect(sessions.redeem(tokens[0] ?? '')).toBeUndefined();
  const [first, second] = [signIn(sessions), signIn(sessions)];
  for (let count = 2; count < MAX_SESSIONS; count += 1) signIn(sessions);
  expect(sessions.use(first)).toBe(true);
  signIn(sessions);
  expect([sessions.use(first), sessions.use(second)]).toEqual([true, false]);
});
