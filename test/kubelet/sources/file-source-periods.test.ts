import {expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {aDirectory, followPath} from './manifest-directory.js';
import {podManifest} from './run-source.js';

test.each([0, -1, Number.NaN])(
  'a directory is read with pauses, even every %d ms',
  async (checkFrequencyMs) => {
    const clock = new FakeClock({nowMs: 86_400_000});
    const {path, write} = await aDirectory();
    const followed = followPath(path, {clock, checkFrequencyMs});
    await followed.untilNames();
    await until(() => clock.sleeping > 0);
    await write('a.yaml', podManifest('a'));
    await until(async () => {
      await clock.advance(10);
      return followed.names()?.includes('a-node1') === true;
    });
    await until(() => clock.sleeping > 0);
    expect(clock.sleeps.every((ms) => ms >= 10)).toBe(true);
  },
);
