import {expect, test} from 'vitest';
import {changeSince, LiveStream, updateLine} from '../../../../src/features/ui/live/live-stream.js';

const never = new AbortController().signal;
type Texts = Readonly<Record<string, string | undefined>>;

const change = (
  nowMs: number,
  {
    nodes = {},
    pods = {},
    usage = {},
  }: {nodes?: Record<string, string>; pods?: Texts; usage?: Record<string, string>},
) => ({
  nowMs,
  nodes: new Map(Object.entries(nodes)),
  pods: new Map(Object.entries(pods)),
  usage: new Map(Object.entries(usage)),
});

const texts = (
  nowMs: number,
  pods: Record<string, string>,
  usage: Record<string, string> = {},
  nodes: Record<string, string> = {},
) => ({
  nowMs,
  podTexts: new Map(Object.entries(pods)),
  usageTexts: new Map(Object.entries(usage)),
  nodeTexts: new Map(Object.entries(nodes)),
});

test('changes are those pods and nodes that are new, differ or are gone', () => {
  const before = texts(1, {a: '1', b: '1', c: '1'}, {}, {x: '1', y: '1'});
  const after = texts(2, {a: '1', b: '2', d: '1'}, {}, {x: '1', y: '2'});
  expect(changeSince(before, after)).toEqual(
    change(2, {nodes: {y: '2'}, pods: {b: '2', d: '1', c: undefined}}),
  );
});

test('a pod of which only the usage differs is not sent, and one that differs has its usage', () => {
  const before = texts(1, {a: '1', b: '1', c: '1'}, {a: '[1]', b: '[1]', c: '[1]'});
  const after = texts(2, {a: '1', b: '2', c: '1'}, {a: '[2]', b: '[1]', c: '[1]'});
  expect(changeSince(before, after)).toEqual(change(2, {pods: {b: '2'}, usage: {a: '[2]', b: '[1]'}}));
});

test('a message about nothing has only the time', () => {
  const same = texts(1, {a: '1'}, {a: '[1]'}, {x: '1'});
  expect(updateLine(changeSince(same, {...same, nowMs: 2}))).toBe('{"kind":"update","nowMs":2}\n');
});

test('a reader gets each change', async () => {
  const stream = new LiveStream();
  const waiting = stream.next(never);
  stream.push(change(1, {pods: {a: '1'}}));
  expect(await waiting).toMatchObject({nowMs: 1});
  stream.push(change(2, {pods: {a: '2'}, usage: {a: '[3,4]'}, nodes: {x: '5'}}));
  expect(updateLine(await stream.next(never))).toBe(
    '{"kind":"update","nowMs":2,"nodes":[5],"pods":[2],"usage":{"a":[3,4]}}\n',
  );
});

test('a reader that is late gets the changes in one, with one text per pod', async () => {
  const stream = new LiveStream();
  for (let count = 0; count < 1000; count += 1)
    stream.push(
      change(count, {
        pods: {a: String(count), b: String(count)},
        usage: {a: `[${count}]`, b: '[1]'},
        nodes: {x: String(count)},
      }),
    );
  stream.push(change(1000, {pods: {b: undefined, c: '7'}}));
  const line = updateLine(await stream.next(never));
  expect(JSON.parse(line)).toEqual({
    kind: 'update',
    nowMs: 1000,
    nodes: [999],
    pods: [999, 7],
    usage: {a: [999]},
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
  stream.push(change(1, {pods: {a: undefined}}));
  stream.push(change(2, {pods: {a: '1'}}));
  expect(JSON.parse(updateLine(await stream.next(never)))).toEqual({kind: 'update', nowMs: 2, pods: [1]});
});
