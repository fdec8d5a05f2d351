import {existsSync} from 'node:fs';
import {mkdir, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {SystemError} from '../../../../src/base/errors.js';
import {podUid} from '../../../../src/cri/index.js';
import type {CgroupFacts} from '../../../../src/kubelet/contract/node-facts.js';
import {removeOrphanedCgroups} from '../../../../src/kubelet/pods/gc/orphaned-cgroups.js';
import {fakeLogger} from '../../../base/fake-logger.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {until} from '../../../base/until.js';
import {FakeClock} from '../../../fakes/fake-clock.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';

const PERIOD_MS = 60_000;

/** What is left of pods, by UID, and what is known. */
interface Node {
  readonly cgroup?: Partial<CgroupFacts>;
  /** Pods of sources, of records, and of sandboxes of the runtime. */
  readonly wanted?: readonly string[];
  readonly recorded?: readonly string[];
  readonly inRuntime?: readonly string[];
  readonly isReady?: boolean;
}

/** Runs the removal on a node with cgroup v2, whose cgroups the test creates below `mount`. */
async function start({cgroup, wanted = [], recorded = [], inRuntime = [], isReady = true}: Node = {}) {
  const mount = await temporaryDirectory();
  const rootDir = await temporaryDirectory();
  const clock = new FakeClock();
  const stop = new AbortController();
  const logged: string[] = [];
  let failures: readonly Error[] = [];
  let calls = 0;
  const items = inRuntime.map((uid) => ({labels: {'io.kubernetes.pod.uid': uid}}));
  const running = removeOrphanedCgroups(
    {
      node: {
        ...{...GOLDEN_NODE, rootDir, cgroupMount: mount},
        cgroup: {version: 2, driver: 'cgroupfs', root: '', swapAccounting: false, ...cgroup},
      },
      runtime: {
        listPodSandbox: async () => {
          calls += 1;
          const [failure] = failures;
          failures = failures.slice(1);
          if (failure !== undefined) throw failure;
          return Promise.resolve({items} as never);
        },
      },
      store: {uids: async () => Promise.resolve(recorded.map((uid) => podUid(uid)))},
      hasPod: (uid) => wanted.includes(uid),
      allSourcesReady: () => isReady,
      clock,
      logger: fakeLogger({
        info: (message, fields) => void logged.push(`${message} ${String(fields?.['podUID'])}`),
        error: (_, message) => void logged.push(message),
      }),
    },
    stop.signal,
  );
  return {
    ...{mount, rootDir, logged},
    calls: () => calls,
    failOnce: (error: Error) => (failures = [error]),
    /** Lets periods pass, each to its end. */
    pass: async (periods: number) => {
      for (let period = 0; period < periods; period++) {
        await until(() => clock.sleeping === 1);
        await clock.advance(PERIOD_MS);
      }
      await until(() => clock.sleeping === 1);
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
    },
  };
}

test.each([
  [{}, 'kubepods/podu1'],
  [{}, 'kubepods/besteffort/podu1'],
  [{root: '/a'}, 'a/kubepods/burstable/podu1'],
  [{driver: 'systemd'}, 'kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podu1.slice'],
  [
    {driver: 'systemd', root: '/a'},
    'a.slice/a-kubepods.slice/a-kubepods-burstable.slice/a-kubepods-burstable-podu1.slice',
  ],
] as const)('a cgroup %j of which nothing is known for two periods is removed: %s', async (cgroup, path) => {
  await using node = await start({cgroup: {...cgroup, version: 1}});
  const directories = ['cpu', 'pids'].map((name) => join(node.mount, name));
  for (const directory of directories) {
    await mkdir(join(directory, path, 'container'), {recursive: true});
    await writeFile(join(directory, 'cgroup.procs'), '');
  }
  // One that was removed from one hierarchy only.
  await rm(join(directories[0]!, path), {recursive: true});
  await node.pass(1);
  expect(existsSync(join(directories[1]!, path))).toBe(true);
  await node.pass(1);
  expect(existsSync(join(directories[1]!, path))).toBe(false);
  expect(existsSync(join(directories[1]!, path, '..'))).toBe(true);
  expect(node.logged).toEqual(['Orphaned pod found, removing pod cgroups u1']);
});

test.each<readonly [what: string, node: Node]>([
  ['a source', {wanted: ['u1']}],
  ['a record, perhaps of a pod on another runtime', {recorded: ['u1']}],
  ['a sandbox', {inRuntime: ['u1']}],
  ['perhaps a source that has not delivered its pods yet', {isReady: false}],
])('the cgroup of a pod of %s is kept', async (_what, known) => {
  await using node = await start(known);
  const path = join(node.mount, 'kubepods/besteffort/podu1');
  await mkdir(path, {recursive: true});
  await node.pass(3);
  expect(existsSync(path)).toBe(true);
});

test('the cgroup of a pod with a directory is kept', async () => {
  await using node = await start();
  const path = join(node.mount, 'kubepods/podu1');
  await mkdir(path, {recursive: true});
  await mkdir(join(node.rootDir, 'pods/u1'), {recursive: true});
  await node.pass(3);
  expect(existsSync(path)).toBe(true);
  await rm(join(node.rootDir, 'pods/u1'), {recursive: true});
  await node.pass(2);
  expect(existsSync(path)).toBe(false);
});

test('a cgroup with a process is kept, and so are those that are not of pods', async () => {
  await using node = await start();
  const paths = ['kubepods/podu1', 'kubepods/burstable', 'kubepods/other', 'podu2'];
  for (const path of paths) await mkdir(join(node.mount, path), {recursive: true});
  await mkdir(join(node.mount, 'kubepods/podu1/container'));
  await writeFile(join(node.mount, 'kubepods/podu1/container/cgroup.procs'), '1\n');
  await node.pass(3);
  expect(paths.filter((path) => existsSync(join(node.mount, path)))).toEqual(paths);
  expect(node.logged).toEqual([]);
});

test('the runtime is not asked while all cgroups are of known pods, and a failure of it is logged', async () => {
  await using node = await start({wanted: ['u1']});
  await mkdir(join(node.mount, 'kubepods/podu1'), {recursive: true});
  await node.pass(2);
  expect(node.calls()).toBe(0);
  await mkdir(join(node.mount, 'kubepods/podu2'));
  node.failOnce(new SystemError('down'));
  await node.pass(1);
  expect(node.logged).toEqual(['Failed to look for cgroups of orphaned pods']);
  await node.pass(2);
  expect(existsSync(join(node.mount, 'kubepods/podu2'))).toBe(false);
});
