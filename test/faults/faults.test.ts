import {beforeAll, afterAll, describe, expect, test} from 'vitest';
import {buildTestPrograms} from '../../scripts/build-test-programs.mjs';
import {FAULT_NAMES, planPoints, type FaultPoint} from './fault-point.js';
import {KubeletProcesses} from './killable-driver.js';
import {playPoint, type Played} from './play-point.js';

/** A small sample of the fault campaign (`npm run faults`), which keeps it working. Playing cases needs root. */
describe.runIf(process.getuid?.() === 0)('a fault in the golden case "minimal" (needs root)', () => {
  let base: Played;
  let processes: KubeletProcesses;

  beforeAll(async () => {
    const [kubeletProcess] = await buildTestPrograms('faults-sample', ['faults/kubelet-process.ts']);
    processes = new KubeletProcesses(kubeletProcess!);
    base = await playPoint({caseName: 'minimal'});
  });
  afterAll(() => {
    processes[Symbol.dispose]();
  });

  test('is preceded by a run without faults that leaves nothing behind', () => {
    expect(base.violations).toEqual([]);
    expect(base.endState).toBe('minimal-goldennode, Running, , main ready running');
    // A removed pod stays in a kubelet's files of resources until another one changes.
    expect(base.files).toEqual([
      'root/actuated_pods_state',
      'root/allocated_pods_state',
      // Empty directories.
      'root/image_manager/pulled',
      'root/image_manager/pulling',
      'root/kcri/locks/__kubelet.lock',
    ]);
  });

  const CREATE = {kind: 'rpc', rpc: 'CreateContainer', skip: 0} as const;
  test.each<FaultPoint>([
    ...FAULT_NAMES.map((fault) => ({...CREATE, fault})),
    {kind: 'rpc', rpc: 'RemovePodSandbox', fault: 'garbage', skip: 0},
  ])('is overcome: $rpc $fault', async (point) => {
    const {wasReached, violations} = await playPoint({caseName: 'minimal', point, expected: base});
    expect({wasReached, violations}).toEqual({wasReached: true, violations: []});
  });

  test.each(['RunPodSandbox before', 'StartContainer after', 'RemoveContainer after'])(
    'is overcome: the kubelet is killed in %s its effect',
    async (where) => {
      const point = planPoints(base.calls, () => 0).find(
        (planned) => planned.kind === 'kill' && `${planned.rpc} ${planned.stage}` === where,
      )!;
      const startProcess = () => processes.take();
      const {wasReached, violations} = await playPoint({
        caseName: 'minimal',
        point,
        expected: base,
        startProcess,
      });
      expect({wasReached, violations}).toEqual({wasReached: true, violations: []});
    },
  );
});

test('points are each fault of each RPC, kills around changes, and one kill in equal reads between changes', () => {
  const points = planPoints(['Status', 'Status', 'StartContainer', 'Status'], (n) => n - 1);
  expect(points.filter(({kind}) => kind === 'rpc')).toEqual(
    [
      {rpc: 'Status', skip: 2},
      {rpc: 'StartContainer', skip: 0},
    ].flatMap((call) => FAULT_NAMES.map((fault) => ({kind: 'rpc', fault, ...call}))),
  );
  expect(points.filter(({kind}) => kind === 'kill')).toEqual([
    {kind: 'kill', call: 0, stage: 'before', rpc: 'Status'},
    {kind: 'kill', call: 2, stage: 'before', rpc: 'StartContainer'},
    {kind: 'kill', call: 2, stage: 'after', rpc: 'StartContainer'},
    {kind: 'kill', call: 3, stage: 'before', rpc: 'Status'},
  ]);
});
