import {expect, test} from 'vitest';
import {API_CASES} from './api-cases.js';
import {apiParityOf, LISTED_API_CASES} from './api-parity.js';
import {canPlay} from './case-disks.js';
import {compareRuns} from './compare-runs.js';
import {playApiCase} from './play-api-case.js';

/** Reports whether two recordings differed in a unit; `cri`, `reads` and `node.writes` are all calls, reads and requests about the node. */
function isUnstable(unit: string, unstable: readonly string[] = []): boolean {
  if (unit.startsWith('calls.')) return unstable.includes('cri');
  if (unit.startsWith('reads ') && unstable.includes('reads')) return true;
  const recordedUnit = unit.startsWith('node ') ? 'node.writes' : unit.replace(/^kept /, 'file ');
  return unstable.includes(recordedUnit);
}

test.concurrent.for(API_CASES.filter(canPlay))(
  '%s: kcri sends to the API server what a kubelet sends',
  async (name, {expect: local}) => {
    const parity = apiParityOf(name);
    const {recorded, actual} = await playApiCase(name, parity.stepMs);
    const stable = compareRuns(recorded, actual).filter(({unit}) => !isUnstable(unit, recorded.unstable));
    const racing = parity.kind === 'racing' ? parity.units : [];
    if (parity.kind !== 'different') local(stable.filter(({unit}) => !racing.includes(unit))).toEqual([]);
    else local(stable.map(({unit}) => unit)).toEqual(parity.units.toSorted());
  },
);

test('every entry of the list is about a recorded case', () => {
  expect(LISTED_API_CASES.filter((name) => !API_CASES.includes(name))).toEqual([]);
});
