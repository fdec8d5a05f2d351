import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {buildTestPrograms} from '../../../scripts/build-test-programs.mjs';
import {KubeletProcesses} from '../killable-driver.js';
import {killTakeover, type KilledTakeover} from './kill-takeover.js';

/** Numbers of the steps of a takeover at which `npm test` kills it, as parts of all; `npm run faults` kills it at each. */
const SAMPLES = [0, 0.1, 0.25, 0.4, 0.55, 0.7, 0.85];

/** Mounting requires root. */
describe.runIf(process.getuid?.() === 0)('a takeover whose kubelet is killed (needs root)', () => {
  let whole: KilledTakeover;
  let processes: KubeletProcesses;
  beforeAll(async () => {
    const [program] = await buildTestPrograms('takeover-sample', ['faults/takeover/takeover-process.ts']);
    processes = new KubeletProcesses(program!);
  });
  afterAll(() => {
    processes[Symbol.dispose]();
  });

  test('after its last step is continued by the next kubelet', async () => {
    whole = await killTakeover(Infinity, () => processes.take());
    expect(whole.violations).toEqual([]);
    const kinds = new Set(whole.steps?.map((step) => step.split(' ')[0]));
    for (const kind of ['listPodSandbox', 'mkdir', 'open', 'write', 'fsync', 'rename', 'symlink', 'spawn'])
      expect(kinds).toContain(kind);
  });

  test.each(SAMPLES)('after %f of its steps is completed by the next kubelet', async (part) => {
    const step = Math.floor(part * whole.steps!.length);
    const {steps, violations} = await killTakeover(step, () => processes.take());
    expect({step, violations, isKilled: steps === undefined}).toEqual({step, violations: [], isKilled: true});
  });
});
