import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {mkdir, readFile, rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import {NO_METRICS} from '../../../../src/kubelet/contract/kubelet-metrics.js';
import type {NodeFacts} from '../../../../src/kubelet/contract/node-facts.js';
import type {NodeManager, NodeManagerServices} from '../../../../src/kubelet/contract/node-manager.js';
import {DEFAULT_CONTAINER_POLICY} from '../../../../src/kubelet/contract/resources/container-policy.js';
import {createQosMemory} from '../../../../src/kubelet/managers/cgroups/qos-memory.js';
import {
  ensureSharedCgroups,
  removeSharedCgroups,
} from '../../../../src/kubelet/managers/cgroups/shared-cgroups.js';
import {getCgroupRoot} from '../../../../src/kubelet/resources/cgroup-root.js';
import {qosCgroups} from '../../../../src/kubelet/resources/pod-cgroup-parent.js';
import {fakeLogger} from '../../../base/fake-logger.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {startSystemdForTest} from '../../../fakes/dbus/fake-systemd-for-test.js';
import {aPod} from '../../../fakes/a-pod.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';

const signal = AbortSignal.timeout(60_000);
const MIB = 1024n * 1024n;
const guaranteed = aPod({
  containers: [
    {
      ...{name: 'main', image: 'x'},
      resources: {requests: {cpu: '1', memory: '100Mi'}, limits: {cpu: '1', memory: '100Mi'}},
    },
  ],
});

interface Reserve {
  readonly manager: NodeManager;
  readonly node: NodeFacts;
  readonly errors: string[];
  /** Values of the metrics of memory QoS. */
  readonly protectedBytes: unknown[];
}

/** Starts the manager of a node with 1000 MiB of memory and the cgroups of QoS classes. */
async function startReserve(changes: Partial<NodeFacts>, pods: readonly Pod[]): Promise<Reserve> {
  const node: NodeFacts = {
    ...{...GOLDEN_NODE, rootDir: await temporaryDirectory()},
    ...{memoryBytes: 1000n * MIB, qosReservedMemoryPercent: 50n, reservations: undefined},
    ...changes,
  };
  await ensureSharedCgroups(getCgroupRoot(node)!, qosCgroups(node.cgroup));
  const errors: string[] = [];
  const logger = fakeLogger({
    info: () => undefined,
    error: (error, message) => void errors.push(`${message}: ${String(error)}`),
  });
  const manager = createQosMemory(node) ?? expect.fail();
  const protectedBytes: unknown[] = [];
  const metrics = {...NO_METRICS, memoryProtected: (bytes: unknown) => void protectedBytes.push(bytes)};
  const services: Partial<NodeManagerServices> = {activePods: () => pods, logger, metrics};
  await manager.start?.(services as NodeManagerServices, signal);
  return {manager, node, errors, protectedBytes};
}

async function aTree(version: 1 | 2): Promise<string> {
  const mount = await temporaryDirectory();
  if (version === 2) {
    await writeFile(join(mount, 'cgroup.controllers'), 'cpu memory');
    await writeFile(join(mount, 'cgroup.subtree_control'), '');
  } else for (const name of ['cpu', 'memory']) await mkdir(join(mount, name));
  return mount;
}

const facts = (version: 1 | 2, driver: 'cgroupfs' | 'systemd', root = ''): NodeFacts['cgroup'] => ({
  ...{version, driver, root, swapAccounting: false},
});

describe.each([
  [1, 'memory/kubepods', 'memory.limit_in_bytes'],
  [2, 'kubepods', 'memory.max'],
] as const)('on cgroup v%d', (version, path, file) => {
  test('the classes below get what is not reserved, before each pod and periodically', async () => {
    const cgroupMount = await aTree(version);
    const pods: Pod[] = [];
    const {manager} = await startReserve({cgroupMount, cgroup: facts(version, 'cgroupfs')}, pods);
    const limits = async () =>
      await Promise.all(
        ['burstable', 'besteffort'].map(async (qos) => readFile(join(cgroupMount, path, qos, file), 'utf8')),
      );
    await manager.reconcile?.run(signal);
    expect(await limits()).toEqual([String(1000n * MIB), String(1000n * MIB)]);
    pods.push(guaranteed);
    expect(await manager.preparePod?.(guaranteed, signal)).toBeUndefined();
    expect(await limits()).toEqual([String(950n * MIB), String(950n * MIB)]);
  });

  test('a limit that cannot be set is logged, and does not keep the pod from running', async () => {
    const cgroupMount = await aTree(version);
    const {manager, errors} = await startReserve({cgroupMount, cgroup: facts(version, 'cgroupfs')}, []);
    await symlink('/dev/full', join(cgroupMount, path, 'burstable', file));
    expect(await manager.preparePod?.(guaranteed, signal)).toBeUndefined();
    expect(errors).toEqual([expect.stringContaining('Failed to update QoS cgroup configuration')]);
  });

  test('cgroups that another process created are left alone', async () => {
    const cgroupMount = await aTree(version);
    await mkdir(join(cgroupMount, path, 'burstable'), {recursive: true});
    const {manager, errors} = await startReserve({cgroupMount, cgroup: facts(version, 'cgroupfs')}, []);
    await manager.reconcile?.run(signal);
    expect(errors).toEqual([]);
    expect(existsSync(join(cgroupMount, path, 'burstable', file))).toBe(false);
    expect(existsSync(join(cgroupMount, path, 'besteffort', file))).toBe(true);
  });
});

test('with slices, systemd keeps the limits', async () => {
  const cgroupMount = await aTree(2);
  const systemd = await startSystemdForTest({mount: cgroupMount});
  const {manager} = await startReserve({cgroupMount, cgroup: facts(2, 'systemd')}, [guaranteed]);
  await manager.reconcile?.run(signal);
  expect(systemd.log.slice(-2)).toEqual([
    `SetUnitProperties kubepods-burstable.slice MemoryMax=${950n * MIB}`,
    `SetUnitProperties kubepods-besteffort.slice MemoryMax=${950n * MIB}`,
  ]);
});

describe('memory QoS', () => {
  const burstable = aPod({
    containers: [{name: 'main', image: 'x', resources: {requests: {memory: '20Mi'}}}],
  });
  const policy = (protectsRequests: boolean): Partial<NodeFacts> => ({
    qosReservedMemoryPercent: undefined,
    containerPolicy: {...DEFAULT_CONTAINER_POLICY, memoryQos: {protectsRequests, throttlingFactor: 0.9}},
  });

  test.each([
    [true, String(120n * MIB), String(20n * MIB)],
    [false, '0', '0'],
  ])(
    'the cgroups of all pods and of Burstable ones protect what pods request: %s',
    async (isTiered, min, low) => {
      const cgroupMount = await aTree(2);
      const cgroup = facts(2, 'cgroupfs');
      const {manager, protectedBytes} = await startReserve({cgroupMount, cgroup, ...policy(isTiered)}, [
        guaranteed,
        burstable,
      ]);
      await manager.reconcile?.run(signal);
      const read = async (path: string) => readFile(join(cgroupMount, 'kubepods', path), 'utf8');
      expect(await read('memory.min')).toBe(min);
      expect(await read('burstable/memory.low')).toBe(low);
      expect(existsSync(join(cgroupMount, 'kubepods/besteffort/memory.low'))).toBe(false);
      expect(protectedBytes).toEqual([
        isTiered ? {guaranteed: 100n * MIB, burstable: 20n * MIB} : {guaranteed: 0n, burstable: 0n},
      ]);
    },
  );

  test('with slices, systemd keeps the protection beside the limits of qosReserved', async () => {
    const cgroupMount = await aTree(2);
    const systemd = await startSystemdForTest({mount: cgroupMount});
    const node = {cgroupMount, cgroup: facts(2, 'systemd'), ...policy(true), qosReservedMemoryPercent: 50n};
    const {manager} = await startReserve(node, [guaranteed, burstable]);
    await manager.reconcile?.run(signal);
    expect(systemd.log.slice(-4)).toEqual([
      `SetUnitProperties kubepods-burstable.slice MemoryMax=${950n * MIB}`,
      `SetUnitProperties kubepods-besteffort.slice MemoryMax=${940n * MIB}`,
      `SetUnitProperties kubepods.slice MemoryMin=${120n * MIB}`,
      `SetUnitProperties kubepods-burstable.slice MemoryLow=${20n * MIB}`,
    ]);
  });

  test('there is none on cgroup v1', async () => {
    const node = {...GOLDEN_NODE, cgroupMount: await aTree(1), cgroup: facts(1, 'cgroupfs'), ...policy(true)};
    expect(createQosMemory(node)).toBeUndefined();
  });
});

test('without the setting, and without memory for pods, there is no manager', async () => {
  const node = {...GOLDEN_NODE, cgroupMount: await aTree(2), reservations: undefined};
  expect(createQosMemory(node)).toBeUndefined();
  expect(createQosMemory({...node, qosReservedMemoryPercent: 50n, memoryBytes: 0n})).toBeUndefined();
});

const MEMORY_V1 = '/sys/fs/cgroup/memory';
/** Cgroups of the kernel require root and cgroup v1, with which it refuses a limit below the usage. */
const onKernel = process.getuid?.() === 0 && existsSync(join(MEMORY_V1, 'memory.limit_in_bytes'));

test.skipIf(!onKernel)(
  'a class that uses more than its limit cannot use more (needs root and cgroup v1)',
  async () => {
    const cgroup = facts(1, 'cgroupfs', `/kcri-qos-reserve-${process.pid}`);
    const node: Partial<NodeFacts> = {
      ...{cgroup, cgroupMount: '/sys/fs/cgroup', memoryBytes: 4n * MIB, qosReservedMemoryPercent: 0n},
    };
    const {manager, errors, node: used} = await startReserve(node, []);
    const root = getCgroupRoot(used)!;
    const paths = qosCgroups(cgroup);
    const bestEffort = join(
      MEMORY_V1,
      paths.find((path) => path.endsWith('/besteffort'))!,
    );
    const file = `/dev/shm/kcri-qos-reserve-${process.pid}`;
    onTestFinished(async () => {
      await rm(file, {force: true});
      await writeFile(join(bestEffort, 'memory.force_empty'), '0').catch(() => undefined);
      await removeSharedCgroups(root, paths);
    });
    // Memory of a file in memory stays after its process has ended.
    const script = `echo $$ > ${bestEffort}/cgroup.procs && exec head -c ${16n * MIB} /dev/zero > ${file}`;
    execFileSync('sh', ['-c', script]);
    await manager.reconcile?.run(signal);
    expect(errors).toEqual([]);
    const limit = BigInt((await readFile(join(bestEffort, 'memory.limit_in_bytes'), 'utf8')).trim());
    expect(limit).toBeGreaterThan(4n * MIB);
    expect(limit).toBeLessThan(64n * MIB);
  },
);
