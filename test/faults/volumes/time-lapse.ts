import fs from 'node:fs/promises';
import {syncBuiltinESMExports} from 'node:module';
import type {Clock} from '../../../src/base/clock.js';
import {realTimeClock} from '../../fakes/fake-clock.js';

/** How much faster than real time the clock of a play is. */
const FACTOR = 25;
/** Shorter limits on calls stay as they are: a busy machine could exceed them. In ms. */
const SHORT_LIMIT_MS = 10_000;

/** Returns the clock of a play that began at this time, in ms since the epoch; all processes of a play have the same. */
export function timeLapseClock(startMs: number): Clock {
  return realTimeClock({factor: FACTOR, startMs});
}

/** Returns how long a duration of the play's clock really takes, in ms. */
export function realDuration(ms: number): number {
  return ms / FACTOR;
}

/** Shortens the deadlines of this process's calls as its clock does, except for short ones. */
export function shortenDeadlines(): void {
  const original = setTimeout;
  const shortened = (act: () => void, ms = 0): NodeJS.Timeout =>
    original(act, ms > SHORT_LIMIT_MS ? realDuration(ms) : ms);
  globalThis.setTimeout = Object.assign(shortened, original);
}

/**
 * Hides the other processes of the machine, whose command lines a kubelet reads once a minute to find another one: on the play's
 * clock that is an eighth of its work.
 */
export function hideProcesses(): void {
  const original = fs.readdir;
  const list = async (...[path, ...others]: Parameters<typeof original>): Promise<unknown> =>
    path === '/proc' ? [] : await original(path, ...others);
  fs.readdir = list as typeof original;
  syncBuiltinESMExports();
}
