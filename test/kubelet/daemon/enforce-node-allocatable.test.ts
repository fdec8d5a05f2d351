import {mkdir, readFile, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {SILENT_LOGGER} from '../../../src/base/logger.js';
import type {NodeEvent} from '../../../src/kubelet/contract/cluster/node-event.js';
import {getCgroupRoot} from '../../../src/kubelet/resources/cgroup-root.js';
import type {NodeFacts} from '../../../src/kubelet/contract/node-facts.js';
import {
  enforceNodeAllocatable,
  enforceReservations,
} from '../../../src/kubelet/daemon/enforce-node-allocatable.js';
import {ensurePodCgroup} from '../../../src/kubelet/managers/cgroups/pod-cgroup.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';

const logger = SILENT_LOGGER.forFile('test.ts');
const NOTHING = {cpuMilli: 0n, memoryBytes: 0n, ephemeralStorageBytes: 0n, pids: 0n};

/** Returns a node with cgroup v1, whose memory hierarchy is an ordinary directory. */
async function aNode(cgroups: NonNullable<NodeFacts['reservations']>['cgroups'] = []): Promise<NodeFacts> {
  const cgroupMount = await temporaryDirectory();
  await mkdir(join(cgroupMount, 'memory'));
  return {
    ...{...GOLDEN_NODE, cgroupMount, rootDir: await temporaryDirectory()},
    cgroup: {version: 1, driver: 'cgroupfs', root: '', swapAccounting: false},
    reservations: {total: NOTHING, eviction: NOTHING, limitsPods: true, cgroups},
  };
}

test('a limit that cannot be set is tried again every minute, with events', async () => {
  const node = await aNode();
  const clock = new FakeClock();
  const events: NodeEvent[] = [];
  const root = getCgroupRoot(node)!;
  await ensurePodCgroup(root, '/kubepods/podu1', {cpuShares: 2n, hugePages: new Map()});
  const file = join(node.cgroupMount!, 'memory/kubepods/memory.limit_in_bytes');
  expect(await readFile(file, 'utf8')).toBe(String(node.memoryBytes));
  await rm(file);
  await mkdir(file);
  const record = (event: NodeEvent): void => void events.push(event);
  const done = enforceNodeAllocatable({node, clock, logger, record}, new AbortController().signal);
  await until(() => events.length === 1);
  expect(events[0]).toMatchObject({type: 'Warning', reason: 'FailedNodeAllocatableEnforcement'});
  await rm(file, {recursive: true});
  await until(async () => {
    await clock.advance(60_000);
    return events.length === 2;
  });
  await done;
  expect(events[1]).toEqual({
    type: 'Normal',
    reason: 'NodeAllocatableEnforced',
    message: 'Updated Node Allocatable limit across pods',
  });
});

test('a reserved cgroup gets its limits, and a missing one keeps the kubelet from starting', async () => {
  const limits = {memoryBytes: 1024n};
  const node = await aNode([{kind: 'system', path: '/system', limits}]);
  const events: NodeEvent[] = [];
  const record = (event: NodeEvent): void => void events.push(event);
  await expect(enforceReservations({node, record})).rejects.toThrow(
    /^failed to enforce System Reserved Cgroup Limits on "\/system": the cgroup ".*" does not exist/,
  );
  const directory = join(node.cgroupMount!, 'memory/system');
  await mkdir(directory);
  await writeFile(join(directory, 'memory.limit_in_bytes'), '');
  await enforceReservations({node, record});
  expect(await readFile(join(directory, 'memory.limit_in_bytes'), 'utf8')).toBe('1024');
  expect(events.map(({reason}) => reason)).toEqual([
    'FailedNodeAllocatableEnforcement',
    'NodeAllocatableEnforced',
  ]);
});
