import {expect, test} from 'vitest';
import {changedPods, LiveStream, updateLine} from '../../../../src/features/ui/live/live-stream.js';

const never = new AbortController().signal;
const change = (nowMs: number, pods: Record<string, string | undefined>) => ({
  nowMs,
  nodes: '[]',
  pods: new Map(Object.entries(pods)),
});

test('changes are those pods that are new, differ or are gone', () => {
  const before = new Map([
    ['a', '1'],
    ['b', '1'],
    ['c', '1'],
  ]);
  const after = new Map([
    ['a', '1'],
    ['b', '2'],
    ['d', '1'],
  ]);
  expect([...changedPods(before, after)]).toEqual([
    ['b', '2'],
    ['d', '1'],
    ['c', undefined],
  ]);
});

test('a reader gets each change', async () => {
  const stream = new LiveStream();
  const waiting = stream.next(never);
  stream.push(change(1, {a: '1'}));
  expect(await waiting).toMatchObject({nowMs: 1});
  stream.push(change(2, {a: '2'}));
  expect(updateLine(await stream.next(never))).toBe(
    '{"kind":"update","nowMs":2,"nodes":[],"pods":[2],"removed":[]}\n',
  );
});

test('a reader that is late gets the changes in one, with one text per pod', async () => {
  const stream = new LiveStream();
  for (let count = 0; count < 1000; count += 1)
    stream.push(change(count, {a: String(count), b: String(count)}));
  stream.push(change(1000, {b: undefined, c: '7'}));
  const line = updateLine(await stream.next(never));
  expect(JSON.parse(line)).toEqual({
    kind: 'update',
    nowMs: 1000,
    nodes: [],
    pods: [999, 7],
    removed: ['b'],
  });
  // Nothing is left.
  const end = new AbortController();
  const waiting = stream.next(end.signal);
  end.abort(new Error('over'));
  await expect(waiting).rejects.toThrow('over');
});

test('a pod that comes back is not removed', async () => {
  const stream = new LiveStream();
  stream.push(change(1, {a: undefined}));
  stream.push(change(2, {a: '1'}));
  expect(JSON.parse(updateLine(await stream.next(never)))).toMatchObject({pods: [1], removed: []});
});
