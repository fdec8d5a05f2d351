import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {buildTestPrograms} from '../../../scripts/build-test-programs.mjs';
import {hasLoopDevices} from '../../base/loop-disk.js';
import {KubeletProcesses} from '../killable-driver.js';
import {playVolumes, type PlayedVolumes} from './play-volumes.js';
import {DRIVER_FAULTS, planVolumePoints, type VolumePoint} from './volume-point.js';

/** A small sample of the points that `npm run faults` plays. */
describe.skipIf(!hasLoopDevices)('pods with CSI volumes (needs root)', () => {
  let whole: PlayedVolumes;
  let processes: KubeletProcesses;
  beforeAll(async () => {
    const [program] = await buildTestPrograms('volumes', ['faults/volumes/volume-process.ts']);
    processes = new KubeletProcesses(program!);
    whole = await playVolumes({}, processes);
  });
  afterAll(() => {
    processes[Symbol.dispose]();
  });

  test('leave nothing, and each volume that was staged and published is released', () => {
    expect(whole.violations).toEqual([]);
    const counts = ['NodeStageVolume', 'NodePublishVolume', 'NodeUnpublishVolume', 'NodeUnstageVolume'].map(
      (method) => whole.methods.filter((called) => called === method).length,
    );
    // The last pod of a volume may end before or after the first of the next ones begins.
    expect(counts).toEqual([counts[0], 15, 15, counts[0]]);
    expect(whole.methods.filter((method) => method.includes('ExpandVolume'))).toEqual([
      'ControllerExpandVolume',
      'NodeExpandVolume',
    ]);
  });

  test.concurrent.each<readonly [what: string, pattern: RegExp, point: VolumePoint]>([
    ['a volume was mounted', /^rename .*\/volumes\/kubernetes\.io~csi\/files\/vol_data\.json$/, {}],
    ['a cgroup of a pod was created', /^mkdirSync .*\/pod[^/]*$/, {aftermath: 'lost'}],
    ['a device was bound', /^spawn mount$/, {aftermath: 'reboot'}],
    ['a volume was unstaged', /^rmdir .*\/globalmount$/, {aftermath: 'driver'}],
    ['a container was started', /^startContainer/, {aftermath: 'deleted'}],
    ['a sandbox was stopped', /^stopPodSandbox/, {aftermath: 'lost'}],
  ])('lose nothing if the kubelet is killed before %s', async (_what, pattern, point) => {
    const killBeforeStep = whole.steps?.findIndex((step) => pattern.test(step)) ?? -1;
    expect(killBeforeStep).toBeGreaterThan(0);
    const played = await playVolumes({...point, killBeforeStep}, processes);
    // Steps may come in another order than without a kill.
    expect(played).toMatchObject({
      ...{wasReached: true, violations: []},
      killedBefore: expect.any(String) as unknown,
    });
  });

  test.concurrent('lose nothing if a kubelet is killed while it cleans up after a killed one', async () => {
    const point: VolumePoint = {killBeforeStep: 300, killAgainBeforeStep: 30, aftermath: 'reboot'};
    const played = await playVolumes(point, processes);
    expect(played).toMatchObject({wasReached: true, violations: []});
  });

  test.concurrent.each<VolumePoint>([
    {fault: {method: 'NodeStageVolume', skip: 0, name: 'lost'}},
    {fault: {method: 'NodePublishVolume', skip: 0, name: 'failed'}},
    {fault: {method: 'CreateVolume', skip: 0, name: 'failed'}},
    {killIn: {method: 'NodeUnpublishVolume', skip: 1, stage: 'after'}, aftermath: 'restart'},
    {fault: {method: 'ControllerExpandVolume', skip: 0, name: 'hang'}},
    {fault: {method: 'NodeExpandVolume', skip: 0, name: 'failed'}},
    {killIn: {method: 'ControllerExpandVolume', skip: 0, stage: 'after'}, aftermath: 'reboot'},
  ])('lose nothing in spite of %o', async (point) => {
    const played = await playVolumes(point, processes);
    expect(played).toMatchObject({wasReached: true, violations: []});
  });
});

test('there is a kill before each step and around each call, and each fault of a call alone and before kills', () => {
  const methods = ['NodeStageVolume', 'NodeStageVolume'];
  const points = planVolumePoints('restart', {steps: 3, methods}, () => 2);
  const numberOf = (matches: (point: VolumePoint) => boolean): number => points.filter(matches).length;
  expect(numberOf(({fault, killBeforeStep}) => fault === undefined && killBeforeStep !== undefined)).toBe(6);
  expect(numberOf(({killAgainBeforeStep}) => killAgainBeforeStep !== undefined)).toBe(3);
  expect(numberOf(({killIn}) => killIn !== undefined)).toBe(4);
  expect(numberOf(({fault, aftermath}) => fault !== undefined && aftermath === undefined)).toBe(
    2 * DRIVER_FAULTS.length,
  );
  expect(points).toContainEqual({
    fault: {method: 'NodeStageVolume', skip: 1, name: 'late'},
    killBeforeStep: 2,
    aftermath: 'restart',
  });
  expect(planVolumePoints('reboot', {steps: 3, methods}, () => 2)).toHaveLength(
    points.length - 2 * DRIVER_FAULTS.length,
  );
});
