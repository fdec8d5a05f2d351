import {expect, test} from 'vitest';
import {containerId, podUid} from '../../../src/cri/index.js';
import type {PodLifecycleEvent} from '../../../src/kubelet/contract/pleg.js';
import {SyncLoopQueue} from '../../../src/kubelet/daemon/sync-loop-queue.js';
import {SyncLoop, type SyncLoopHandler} from '../../../src/kubelet/daemon/sync-loop.js';
import {until} from '../../base/until.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {UID} from '../../fakes/a-pod.js';
import {fakeLogger} from '../../base/fake-logger.js';

const uid = podUid(UID);
const {signal} = new AbortController();
const DIED: PodLifecycleEvent = {uid, type: 'ContainerDied', id: 'c1'};

/** Returns a loop whose handler records its calls. */
function aLoop(overrides: Partial<SyncLoopHandler> = {}) {
  const clock = new FakeClock();
  const done: string[] = [];
  const logged: {message: string; error?: string; fields?: object}[] = [];
  const handler: SyncLoopHandler = {
    handleConfig: async ({op, source}) => void done.push(`${op} of ${source}`),
    handlePleg: ({type}) => void done.push(type),
    handleProbe: ({probe, status}) => void done.push(`${probe} ${status}`),
    handleObjectsChanged: () => void done.push('objects'),
    handleSync: () => void done.push('sync'),
    handleHousekeeping: () => void done.push('housekeeping'),
    errors: () => [],
    ...overrides,
  };
  const logger = fakeLogger({
    info: (message: string) => void logged.push({message}),
    error: (error: unknown, message: string, fields: object = {}) =>
      void logged.push({message, error: String(error), fields}),
  });
  const queue = new SyncLoopQueue();
  return {loop: new SyncLoop({queue, handler, clock, logger}), queue, clock, done, logged};
}

async function running(loop: SyncLoop, use: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const ended = loop.run(stop.signal);
  await use();
  stop.abort();
  await ended;
}

test('events of each kind are handled one after the other in their order', async () => {
  const {loop, done, queue} = aLoop();
  queue.config({op: 'ADD', source: 'file', pods: []});
  queue.pleg(DIED);
  queue.probe({uid, id: containerId('c1'), probe: 'liveness', status: 'unhealthy'});
  queue.objectsChanged();

  await running(loop, async () => {
    await until(() => done.length === 4);
  });

  expect(done).toEqual(['ADD of file', 'ContainerDied', 'liveness unhealthy', 'objects']);
});

test('a loop that admits pods counts as active', async () => {
  let admitted = (): void => undefined;
  const {loop, clock, queue} = aLoop({
    handleConfig: () =>
      new Promise((resolve) => {
        admitted = resolve;
      }),
  });
  queue.config({op: 'ADD', source: 'file', pods: []});
  await running(loop, async () => {
    await clock.advance(600_000);
    expect(loop.lastActiveAt).toBe(clock.now());
    admitted();
  });
});

test('due pods are synced every second and housekeeping runs every other second', async () => {
  const {loop, clock, done} = aLoop();
  await running(loop, async () => {
    for (let second = 0; second < 4; second += 1) await clock.advance(1000);
  });
  expect(done.filter((what) => what === 'sync')).toHaveLength(4);
  expect(done.filter((what) => what === 'housekeeping')).toHaveLength(2);
});

test('ticks that were missed are not repeated', async () => {
  let admitted = (): void => undefined;
  const {loop, clock, done, queue} = aLoop({
    handleConfig: () =>
      new Promise((resolve) => {
        admitted = resolve;
      }),
  });
  queue.config({op: 'ADD', source: 'file', pods: []});
  await running(loop, async () => {
    for (let second = 0; second < 30; second += 1) await clock.advance(1000);
    expect(done).toEqual([]);
    admitted();
    await until(() => done.includes('housekeeping'));
  });
  expect(done.filter((what) => what === 'sync').length).toBeLessThanOrEqual(3);
  expect(done.filter((what) => what === 'housekeeping')).toHaveLength(1);
});

test('housekeeping that takes long is logged', async () => {
  let runs = 0;
  const {loop, clock, logged} = aLoop({
    handleHousekeeping: () => {
      runs += 1;
      if (runs === 1) clock.elapse(28_000);
    },
  });
  await running(loop, async () => {
    await clock.advance(2000);
    await until(() => logged.length > 1);
  });
  expect(logged).toContainEqual({
    message: 'Housekeeping took longer than expected',
    error: 'housekeeping took too long',
    fields: {expected: '1s', actual: '28s'},
  });
});

test('a loop with errors handles nothing, logs them at growing intervals and then handles everything', async () => {
  let errors: readonly string[] = ['container runtime is down', 'PLEG is not healthy'];
  const {loop, clock, done, logged, queue} = aLoop({errors: () => errors});
  queue.config({op: 'ADD', source: 'file', pods: []});
  const loggedAt: number[] = [];
  await running(loop, async () => {
    for (let ms = 0; ms <= 12_000; ms += 100) {
      const before = logged.length;
      await clock.advance(100);
      if (logged.length > before) loggedAt.push(clock.now());
    }
    expect(done).toEqual([]);
    errors = [];
    await clock.advance(5000);
    await until(() => done.length > 0);
  });
  expect(logged[1]).toMatchObject({
    message: 'Skipping pod synchronization',
    error: '[container runtime is down, PLEG is not healthy]',
  });
  expect(loggedAt).toEqual([100, 300, 700, 1500, 3100, 6300, 11_300]);
  expect(done[0]).toBe('ADD of file');
});

test('the pause is short again after the errors are gone', async () => {
  let errors: readonly string[] = ['down'];
  const {loop, clock, logged, queue} = aLoop({errors: () => errors});
  await running(loop, async () => {
    await clock.advance(100);
    await clock.advance(200);
    errors = [];
    await clock.advance(400);
    errors = ['down again'];
    queue.pleg(DIED);
    await clock.advance(1000);
    const loggedBefore = logged.length;
    await clock.advance(100);
    expect(logged.length).toBeGreaterThan(loggedBefore);
  });
});

test('a thousand lifecycle events are queued, the next one is rejected until one is taken', async () => {
  const {queue} = aLoop();
  const taken = Array.from({length: 1001}, () => queue.pleg(DIED));
  expect(taken.filter((isTaken) => !isTaken)).toHaveLength(1);
  expect(taken.at(-1)).toBe(false);
  await queue.next(signal);
  expect(queue.pleg(DIED)).toBe(true);
});

test('an exception of the handler is logged, and the loop continues', async () => {
  const {loop, queue, done, logged} = aLoop({
    handlePleg: () => {
      throw new Error('a bug');
    },
  });
  queue.pleg(DIED);
  queue.objectsChanged();
  await running(loop, async () => {
    await until(() => done.includes('objects'));
  });
  expect(logged).toContainEqual({
    message: 'Failed to handle event of the sync loop',
    error: 'Error: a bug',
    fields: {event: 'pleg'},
  });
});

test('lastActiveAt is the time of the last event', async () => {
  const {loop, clock, done, queue} = aLoop();
  await running(loop, async () => {
    await clock.advance(400);
    queue.pleg(DIED);
    await until(() => done.length === 1);
    await clock.advance(300);
  });
  expect(loop.lastActiveAt).toBe(400);
});
