import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {buildTestPrograms} from '../../../scripts/build-test-programs.mjs';
import {KubeletProcesses} from '../killable-driver.js';
import {killAllocation, type KilledAllocation} from './kill-allocation.js';

/** Steps before which `npm test` kills the kubelet, by what they do; `npm run faults` kills it before each. */
const SAMPLES = [
  ['the first write of the state of CPUs', /^rename .*\/cpu_manager_state$/, 0],
  ['the write of the first devices', /^rename .*\/kubelet_internal_checkpoint$/, 1],
  ['the write of the first CPUs', /^rename .*\/cpu_manager_state$/, 1],
  ['the write of the other devices', /^rename .*\/kubelet_internal_checkpoint$/, 2],
  ['the write of the other CPUs', /^rename .*\/cpu_manager_state$/, 2],
  ['the first CreateContainer', /^createContainer/, 0],
  ['the first StartContainer', /^startContainer/, 0],
  ['the last StartContainer', /^startContainer/, 2],
] as const;

/** Pods need root. */
describe.runIf(process.getuid?.() === 0)('a kubelet that is killed while it allocates (needs root)', () => {
  let whole: KilledAllocation;
  let processes: KubeletProcesses;
  beforeAll(async () => {
    const [program] = await buildTestPrograms('allocations', ['faults/allocations/allocation-process.ts']);
    processes = new KubeletProcesses(program!);
    whole = await killAllocation(Infinity, () => processes.take());
  });
  afterAll(() => {
    processes[Symbol.dispose]();
  });

  test('after its last step leaves all CPUs and devices to the next one', () => {
    expect(whole.violations).toEqual([]);
  });

  test.each(SAMPLES)('before %s gives nothing out twice and loses nothing', async (_what, pattern, index) => {
    const steps = whole.steps ?? [];
    const found = [...steps.keys()].filter((step) => pattern.test(steps[step] ?? ''));
    const step = found[index] ?? expect.fail('there is no such step');
    expect((await killAllocation(step, () => processes.take())).violations).toEqual([]);
  });
});
