import {expect, onTestFinished, test} from 'vitest';
import {connectContainerd} from '../../../src/containerd/connect-containerd.js';
import type {ContainerId} from '../../../src/cri/index.js';
import {createExecProbe} from '../../../src/operations/exec/exec-probe.js';
import {until} from '../../base/until.js';
import {FakeContainerd, type FakeProcess} from '../../fakes/containerd/fake-containerd.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {aContainer, FakeRuntime} from '../../fakes/fake-runtime.js';

const RUNNING: FakeProcess = {status: 'RUNNING', stdin: '/run/stdin'};
const stopped = (exitStatus: number): FakeProcess => ({status: 'STOPPED', exitStatus, stdin: '/run/stdin'});

/** Creates a probe of a command in a container with these processes, and finds it. */
async function aProbe(processes: Readonly<Record<string, FakeProcess>>, containerd = new FakeContainerd()) {
  for (const [id, process] of Object.entries(processes)) containerd.processes.set(id, process);
  const runtime = await FakeRuntime.start({containers: [aContainer()], containerd});
  const connection = connectContainerd(runtime.endpoint);
  const clock = new FakeClock();
  onTestFinished(async () => {
    connection.close();
    await runtime.stop();
  });
  const {signal} = new AbortController();
  const probe = createExecProbe({
    containerId: runtime.containers[0]!.id as ContainerId,
    clock,
    connect: () => Promise.resolve(connection),
  });
  let isFound = false;
  const found = probe.find(signal).then(() => (isFound = true));
  /** Lets time pass until the search ends. */
  const search = async (): Promise<void> => {
    while (!isFound) {
      await until(() => clock.sleeping > 0 || isFound);
      await clock.advance(1000);
    }
    await found;
  };
  return {containerd, clock, search, isFound: () => isFound, exitCode: () => probe.exitCode(signal)};
}

test('returns the exit code when the process has exited', async () => {
  const {containerd, search, exitCode} = await aProbe({own: RUNNING});
  await search();
  expect(await exitCode()).toBeUndefined();
  containerd.processes.set('own', stopped(7));
  expect(await exitCode()).toBe(7);
});

test('waits until the runtime has started the process', async () => {
  const {containerd, clock, search, isFound, exitCode} = await aProbe({});
  await until(() => containerd.calls.length > 0 || clock.sleeping > 0);
  expect(isFound()).toBe(false);
  containerd.processes.set('own', RUNNING);
  await search();
  containerd.processes.set('own', stopped(3));
  expect(await exitCode()).toBe(3);
});

test('ignores processes with a terminal or without input, and processes that the runtime has removed', async () => {
  const {containerd, search, exitCode} = await aProbe({
    shell: {...RUNNING, terminal: true},
    tail: {status: 'RUNNING', stdin: ''},
    own: RUNNING,
    other: RUNNING,
  });
  await search();
  containerd.processes.delete('other');
  containerd.processes.set('own', stopped(7));
  expect(await exitCode()).toBe(7);
});

test.each<[string, FakeProcess]>([
  ['runs', RUNNING],
  ['has exited with another code', stopped(1)],
])('does not guess if another process %s', async (_what, other) => {
  const {containerd, search, exitCode} = await aProbe({own: RUNNING, other: RUNNING});
  await search();
  containerd.processes.set('own', stopped(7)).set('other', other);
  expect(await exitCode()).toBeUndefined();
});

test.each(['UNIMPLEMENTED', 'PERMISSION_DENIED'] as const)(
  'finds nothing in a runtime that answers %s',
  async (code) => {
    const containerd = new FakeContainerd();
    containerd.injectError('Tasks.ListPids', code, 'no');
    const {search, exitCode} = await aProbe({own: stopped(7)}, containerd);
    await search();
    expect(await exitCode()).toBeUndefined();
  },
);

test('gives up a process that does not appear', async () => {
  const {search, exitCode} = await aProbe({});
  await search();
  expect(await exitCode()).toBeUndefined();
});
