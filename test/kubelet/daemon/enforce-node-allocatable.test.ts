import {mkdir, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {SILENT_LOGGER} from '../../../src/base/logger.js';
import type {NodeEvent} from '../../../src/kubelet/contract/cluster/node-event.js';
import {getCgroupRoot} from '../../../src/kubelet/resources/cgroup-root.js';
import type {NodeFacts} from '../../../src/kubelet/contract/node-facts.js';
import {
  enforceNodeAllocatable,
  enforceReservations,
  releaseNodeAllocatable,
} from '../../../src/kubelet/daemon/enforce-node-allocatable.js';
import {ensurePodCgroup} from '../../../src/kubelet/managers/cgroups/pod-cgroup.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {podCgroupParents} from '../../../src/kubelet/resources/pod-cgroup-parent.js';
import {removePodCgroup} from '../../../src/kubelet/managers/cgroups/remove-pod-cgroup.js';
import {podUid} from '../../../src/cri/index.js';
import {until} from '../../base/until.js';
import {startSystemdForTest} from '../../fakes/dbus/fake-systemd-for-test.js';
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
  const message = `Failed to enforce System Reserved Cgroup Limits on "/system": cgroup ["system"] has some missing paths: ${node.cgroupMount}/memory/system`;
  await expect(enforceReservations({node, logger, record})).rejects.toThrow(message);
  expect(events).toEqual([{type: 'Warning', reason: 'FailedNodeAllocatableEnforcement', message}]);
  const directory = join(node.cgroupMount!, 'memory/system');
  await mkdir(directory);
  await writeFile(join(directory, 'memory.limit_in_bytes'), '');
  await enforceReservations({node, logger, record});
  expect(await readFile(join(directory, 'memory.limit_in_bytes'), 'utf8')).toBe('1024');
  expect(events[1]).toEqual({
    type: 'Normal',
    reason: 'NodeAllocatableEnforced',
    message: 'Updated limits on system reserved cgroup /system',
  });
});

test('with cgroup v2 a reserved cgroup needs the controllers of the node', async () => {
  const limits = {cpuShares: 512n};
  const reserved = {kind: 'kube', path: '/kube/let', limits, isCompressible: true} as const;
  const node = await aNode([reserved]);
  const mount = node.cgroupMount!;
  const v2 = {...node, cgroup: {...node.cgroup, version: 2 as const}};
  const enforce = async () => {
    await enforceReservations({node: v2, logger, record: () => undefined});
  };
  await writeFile(join(mount, 'cgroup.controllers'), 'cpu memory');
  const prefix = 'Failed to enforce Kube Reserved Compressible Cgroup Limits on "/kube/let": ';
  await expect(enforce()).rejects.toThrow(
    `${prefix}could not read controllers for cgroup ["kube" "let"]: open ${mount}/kube/let/cgroup.controllers: no such file or directory`,
  );
  await mkdir(join(mount, 'kube/let'), {recursive: true});
  await writeFile(join(mount, 'kube/let/cgroup.controllers'), 'cpu');
  await expect(enforce()).rejects.toThrow(
    `${prefix}cgroup ["kube" "let"] has some missing controllers: memory`,
  );
  await writeFile(join(mount, 'kube/let/cgroup.controllers'), 'cpu memory pids');
  await enforce();
  expect(await readFile(join(mount, 'kube/let/cpu.weight'), 'utf8')).toBe('20');
});

test.each(['/system', '/system.slice', 'system.slice'])(
  'with slices, the reserved cgroup %s is a slice of systemd, to which controllers are available before it is limited',
  async (path) => {
    const mount = await temporaryDirectory();
    await writeFile(join(mount, 'cgroup.controllers'), 'cpu memory hugetlb');
    await writeFile(join(mount, 'cgroup.subtree_control'), 'cpu memory');
    await mkdir(join(mount, 'system.slice'));
    await writeFile(join(mount, 'system.slice/cgroup.controllers'), 'cpu memory hugetlb');
    const systemd = await startSystemdForTest({mount});
    const events: NodeEvent[] = [];
    const node = {
      ...(await aNode([{kind: 'system', path, limits: {memoryBytes: 1024n}}])),
      ...{cgroupMount: mount, cgroup: {version: 2, driver: 'systemd', root: '', swapAccounting: false}},
    } satisfies NodeFacts;
    await enforceReservations({node, logger, record: (event) => void events.push(event)});
    expect(await readFile(join(mount, 'cgroup.subtree_control'), 'utf8')).toBe('+hugetlb');
    expect(systemd.log.at(-1)).toBe('SetUnitProperties system.slice MemoryMax=1024');
    expect(events.map(({message}) => message)).toEqual([`Updated limits on system reserved cgroup ${path}`]);
  },
);

test('with slices, dashes in the name of a reserved cgroup nest it; without it, nothing is left of the start', async () => {
  const mount = await temporaryDirectory();
  await writeFile(join(mount, 'cgroup.controllers'), 'cpu');
  await writeFile(join(mount, 'cgroup.subtree_control'), 'cpu');
  await startSystemdForTest({mount});
  const node = {
    ...(await aNode([{kind: 'kube', path: '/kube-reserved.slice', limits: {}}])),
    ...{cgroupMount: mount, cgroup: {version: 2, driver: 'systemd', root: '', swapAccounting: false}},
  } satisfies NodeFacts;
  await expect(enforceReservations({node, logger, record: () => undefined})).rejects.toThrow(
    `cgroup ["kube" "reserved"]: open ${mount}/kube.slice/kube-reserved.slice/cgroup.controllers: no such file`,
  );
  expect((await readdir(mount)).filter((name) => name.endsWith('.slice'))).toEqual([]);
});

describe.each([
  [1, ['cpu', 'memory', 'freezer']],
  [2, ['']],
] as const)('on cgroup v%d', (version, hierarchies) => {
  async function aNodeOf(driver: 'cgroupfs' | 'systemd') {
    const cgroupMount = await temporaryDirectory();
    for (const name of hierarchies) {
      await mkdir(join(cgroupMount, name), {recursive: true});
      await writeFile(join(cgroupMount, name, 'cgroup.procs'), '');
    }
    if (version === 2) {
      await writeFile(join(cgroupMount, 'cgroup.controllers'), 'cpu memory');
      await writeFile(join(cgroupMount, 'cgroup.subtree_control'), '');
    }
    const cgroup = {version, driver, root: '/top', swapAccounting: false};
    const node = {...(await aNode()), cgroupMount, cgroup};
    const present = async (name: string) =>
      (await readdir(join(cgroupMount, name, 'top'), {recursive: true}).catch(() => []))
        .filter((path) => !path.includes('.'))
        .toSorted();
    const end = new AbortController();
    const start = async () => {
      await enforceNodeAllocatable(
        {node, clock: new FakeClock(), logger, record: () => undefined},
        end.signal,
      );
    };
    return {node, present, start};
  }

  test('the cgroups of all pods and of the QoS classes exist with their limits while the kubelet runs', async () => {
    const {node, present, start} = await aNodeOf('cgroupfs');
    await start();
    const shared = ['kubepods', 'kubepods/besteffort', 'kubepods/burstable'];
    for (const name of hierarchies) expect(await present(name)).toEqual(shared);
    const read = async (path: string) => readFile(join(node.cgroupMount, path), 'utf8');
    const [cpu, memory] = version === 1 ? ['cpu/top/', 'memory/top/'] : ['top/', 'top/'];
    const [shares, limit] =
      version === 1 ? ['cpu.shares', 'memory.limit_in_bytes'] : ['cpu.weight', 'memory.max'];
    expect(await read(`${memory}kubepods/${limit}`)).toBe(String(node.memoryBytes));
    const least = version === 1 ? '2' : '1';
    for (const name of ['burstable', 'besteffort'])
      expect(await read(`${cpu}kubepods/${name}/${shares}`)).toBe(least);

    const root = getCgroupRoot(node)!;
    await ensurePodCgroup(root, '/top/kubepods/burstable/podu1', {cpuShares: 200n, hugePages: new Map()});
    for (const name of hierarchies)
      await rm(join(node.cgroupMount, name, 'top/kubepods/burstable/podu1'), {recursive: true});
    await removePodCgroup(root, podCgroupParents(podUid('u1'), node.cgroup), new FakeClock());
    for (const name of hierarchies) expect(await present(name)).toEqual(shared);
  });

  test('systemd creates the slices, limits that of all pods, and removes them', async () => {
    const {node, start} = await aNodeOf('systemd');
    const {cgroupMount: mount} = node;
    const systemd = await startSystemdForTest({mount, hierarchies});
    await start();
    const slices = [
      'top.slice',
      'top.slice/top-kubepods.slice',
      'top.slice/top-kubepods.slice/top-kubepods-besteffort.slice',
      'top.slice/top-kubepods.slice/top-kubepods-burstable.slice',
    ];
    const present = async (name: string): Promise<readonly string[]> =>
      (await readdir(join(mount, name), {recursive: true}))
        .filter((path) => path.endsWith('.slice'))
        .toSorted();
    for (const name of hierarchies) expect(await present(name)).toEqual(slices);
    const [memory, limit, weight] =
      version === 1 ? ['memory', 'memory.limit_in_bytes', 'CPUShares'] : ['', 'memory.max', 'CPUWeight'];
    expect(await readFile(join(mount, memory, slices[1]!, limit), 'utf8')).toBe(String(node.memoryBytes));
    expect(systemd.log).toContainEqual(
      expect.stringContaining(`SetUnitProperties top-kubepods.slice ${weight}=`),
    );
    await releaseNodeAllocatable({node, logger});
    for (const name of hierarchies) expect(await present(name)).toEqual([]);
  });
});
