import {expect, onTestFinished, test} from 'vitest';
import {LiveFeed, samplePause} from '../../../../src/features/ui/live/live-feed.js';
import type {UiSnapshot} from '../../../../src/features/ui/live/ui-sampler.js';
import {until} from '../../../base/until.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

function aSnapshot(nowMs: number, pods: Record<string, string>, nodes: UiSnapshot['nodes']): UiSnapshot {
  return {
    nowMs,
    nodes,
    podTexts: new Map(Object.entries(pods)),
    usageTexts: new Map(),
    targets: new Map(),
    nodeServices: new Map(),
  };
}

function started() {
  let measured = (): void => undefined;
  const clock = new FakeClock();
  const stop = new AbortController();
  onTestFinished(() => {
    stop.abort();
  });
  let count = 0;
  const nodes = [{key: 'node n', name: 'n', cpuPercent: 1}];
  const feed = new LiveFeed({
    sampler: {
      sample: async () => await Promise.resolve(aSnapshot(count, {a: String(count++)}, nodes)),
      watch: (onMeasured) => {
        measured = onMeasured;
      },
    },
    clock,
    pauseMs: 2000,
    signal: stop.signal,
    processorMs: () => 0,
  });
  /** Opens a stream until it is closed. */
  const open = () => {
    const end = new AbortController();
    const seen: string[] = [];
    const reading = feed.open(async ({podTexts}, stream) => {
      seen.push(`first ${podTexts.get('a') ?? ''}`);
      for (;;) seen.push((await stream.next(end.signal)).pods.get('a') ?? 'only nodes');
    });
    return {
      seen,
      close: async () => {
        end.abort(new Error('closed'));
        await expect(reading).rejects.toThrow('closed');
      },
    };
  };
  return {
    clock,
    feed,
    open,
    samples: () => count,
    stop,
    /** Ends a measurement of the node. */
    measured: (cpuPercent: number): void => {
      nodes[0] = {key: 'node n', name: 'n', cpuPercent};
      measured();
    },
  };
}

test('nothing is sampled while no stream is open', async () => {
  const {clock, open, samples} = started();
  expect([samples(), clock.sleeping]).toEqual([0, 0]);
  const stream = open();
  await until(() => clock.sleeping === 1);
  clock.elapse(2000);
  await until(() => stream.seen.length === 2);
  expect(stream.seen).toEqual(['first 0', '1']);
  await stream.close();
  await until(() => clock.sleeping === 0);
  clock.elapse(100_000);
  expect(samples()).toBe(2);
});

test('streams share the samples, and the last one to close ends them', async () => {
  const {clock, open, samples} = started();
  const [a, b] = [open(), open()];
  await until(() => a.seen.length === 1 && b.seen.length === 1 && clock.sleeping === 1);
  expect(samples()).toBe(1);
  clock.elapse(2000);
  await until(() => a.seen.length === 2 && b.seen.length === 2 && clock.sleeping === 1);
  expect([a.seen, b.seen, samples()]).toEqual([['first 0', '1'], ['first 0', '1'], 2]);
  await a.close();
  clock.elapse(2000);
  await until(() => b.seen.length === 3);
  await b.close();
  await until(() => clock.sleeping === 0);
});

test('a stream that opens as the last one closes is sampled', async () => {
  const {clock, open} = started();
  const first = open();
  await until(() => clock.sleeping === 1);
  await first.close();
  const second = open();
  await until(() => second.seen.length > 0 && clock.sleeping === 1);
  clock.elapse(2000);
  await until(() => second.seen.length > 1);
  await second.close();
  await until(() => clock.sleeping === 0);
});

test('the measurement of a slow node is passed on when it ends, without a sample', async () => {
  const {clock, open, samples, measured} = started();
  const stream = open();
  await until(() => stream.seen.length === 1 && clock.sleeping === 1);
  measured(2);
  await until(() => stream.seen.length === 2);
  expect([stream.seen, samples()]).toEqual([['first 0', 'only nodes'], 1]);
  measured(2);
  clock.elapse(2000);
  await until(() => stream.seen.length === 3);
  expect(stream.seen).toEqual(['first 0', 'only nodes', '1']);
  await stream.close();
  await until(() => clock.sleeping === 0);
});

test('requests use a recent sample', async () => {
  const {clock, feed, samples} = started();
  await feed.current();
  clock.elapse(9000);
  await feed.current();
  expect(samples()).toBe(1);
  clock.elapse(1000);
  await feed.current();
  expect(samples()).toBe(2);
  await feed.refresh();
  expect(samples()).toBe(3);
});

test('samples end with the server', async () => {
  const {clock, open, stop} = started();
  const stream = open();
  await until(() => clock.sleeping === 1);
  stop.abort(new Error('over'));
  await until(() => clock.sleeping === 0);
  await stream.close();
});

test.each([
  [[], 2000],
  [[500, 500, 500, 500], 2000],
  [[1, 1, 1, 1, 1], 2000],
  [[50, 50, 50, 50, 50], 5000],
  // One costly sample changes nothing.
  [[1, 1, 1000, 1, 1], 2000],
  [[9, 9, 50, 50, 50, 1, 1], 5000],
  [[1000, 1000, 1000, 1000, 1000], 30_000],
])('after samples that took %j ms the pause is %d ms', (costs, pause) => {
  expect(samplePause(costs, 2000, 60_000)).toBe(pause);
});

test('a pause that the user asked for is kept', () => {
  expect(samplePause([1000, 1000, 1000, 1000, 1000], 60_000, 60_000)).toBe(60_000);
});

test('a pause grows by degrees, and shrinks at once', () => {
  expect(samplePause([1000, 1000, 1000, 1000, 1000], 2000, 2000)).toBe(3200);
  expect(samplePause([1000, 1000, 1000, 1000, 1000], 2000, 25_000)).toBe(30_000);
  expect(samplePause([25, 25, 25, 25, 25], 2000, 25_000)).toBe(2500);
});
