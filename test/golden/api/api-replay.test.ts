import {expect, test} from 'vitest';
import {API_CASES} from './api-cases.js';
import {apiParityOf, LISTED_API_CASES} from './api-parity.js';
import {compareRuns} from './compare-runs.js';
import {playApiCase} from './play-api-case.js';

test.concurrent.for(API_CASES)(
  '%s: kcri sends to the API server what a kubelet sends',
  async (name, {expect: local}) => {
    const parity = apiParityOf(name);
    if (parity.kind === 'not-played') throw new Error(`${name} has a recording, but is not played`);
    const {recorded, actual} = await playApiCase(name, parity.stepMs);
    const stable = compareRuns(recorded, actual).filter(
      ({unit}) => recorded.unstable?.includes(unit) !== true,
    );
    if (parity.kind === 'equal') local(stable).toEqual([]);
    else local(stable.map(({unit}) => unit)).toEqual(parity.units);
  },
);

test('every entry of the list is about a case that is played, or says why it is not', () => {
  const played = new Set(API_CASES);
  for (const name of LISTED_API_CASES)
    expect([name, apiParityOf(name).kind === 'not-played']).toEqual([name, !played.has(name)]);
});
