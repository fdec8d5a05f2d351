import {PassThrough} from 'node:stream';
import {expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {createProcessContext} from '../../../src/cli/process/context.js';
import {createCrictlReporter} from '../../../src/cli/crictl/crictl-reporter.js';

test('on a terminal, lines count the seconds since the program started', () => {
  const written: string[] = [];
  let nowMs = 12_900;
  const reporter = createCrictlReporter(
    {write: (text) => written.push(text), isDebug: () => false, usage: () => ''},
    {
      ...createProcessContext(),
      clock: {...systemClock, now: () => nowMs},
      startedAtMs: 0,
      stderr: Object.assign(new PassThrough(), {isTTY: true}),
    },
  );
  reporter.error('a');
  nowMs = 13_000;
  reporter.warn('b');
  expect(written.join('').match(/\[\d+\] \w/g)).toEqual(['[0012] a', '[0013] b']);
});
