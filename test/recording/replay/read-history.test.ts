import {expect, test} from 'vitest';
import {LINEAR_GROWTH, measureTimeGrowth} from '../../base/time-growth.js';
import type {CanonicalCall} from '../../../src/recording/canonical/canonical-calls.js';
import {ReadHistory} from '../../../src/recording/replay/read-history.js';

test('a read may answer what was recorded later, before its container was stopped', () => {
  const container_id = '<C:web/main/0>';
  const status = (state: string): CanonicalCall => ({
    method: 'ContainerStatus',
    timeout_s: 0,
    req: {container_id},
    code: 'OK',
    resp: {status: {state}},
  });
  const stop: CanonicalCall = {method: 'StopContainer', timeout_s: 0, req: {container_id}, code: 'OK'};
  const read = (startMs: number, state: string) => ({startMs, endMs: startMs + 0.5, call: status(state)});
  const history = new ReadHistory([
    ...[read(1, 'RUNNING'), read(2, 'EXITED')],
    ...[{startMs: 4, endMs: 4.5, call: stop}, read(5, 'STOPPED')],
  ]);
  const allowed = ([startMs, state]: readonly [number, string]) =>
    history.unknownObjects(read(startMs, state)).length === 0;
  const cases = [
    [1, 'RUNNING'],
    [1, 'EXITED'],
    [2, 'RUNNING'],
    [1, 'STOPPED'],
    [5, 'STOPPED'],
  ] as const;
  expect(cases.map(allowed)).toEqual([true, true, false, false, true]);
});

test('each object of a list may be further than recorded', () => {
  const list = (a: string, b: string): CanonicalCall => ({
    method: 'ListContainers',
    timeout_s: 0,
    req: {},
    code: 'OK',
    resp: {
      containers: [
        {id: '<C:web/a/0>', state: a},
        {id: '<C:web/b/0>', state: b},
      ],
    },
  });
  const history = new ReadHistory([
    {startMs: 1, endMs: 1.5, call: list('RUNNING', 'RUNNING')},
    {startMs: 2, endMs: 2.5, call: list('EXITED', 'RUNNING')},
    {startMs: 3, endMs: 3.5, call: list('EXITED', 'EXITED')},
  ]);
  expect(history.unknownObjects({startMs: 1, endMs: 1.5, call: list('RUNNING', 'EXITED')})).toEqual([]);
  expect(history.unknownObjects({startMs: 2, endMs: 2.5, call: list('RUNNING', 'EXITED')})).toEqual([
    '<C:web/a/0>',
  ]);
});

/** Returns a list of containers of pod `web` by their names, at a time of 1 ms. */
const listAt = (startMs: number, containers: Readonly<Record<string, string>>) => ({
  startMs,
  endMs: startMs + 1,
  call: {
    method: 'ListContainers',
    timeout_s: 0,
    req: {},
    code: 'OK',
    resp: {
      containers: Object.entries(containers).map(([name, state]) => ({id: `<C:web/${name}/0>`, state})),
    },
  },
});

/** Returns a call that changes a container of pod `web`. */
const changeAt = (method: string, name: string, [startMs, endMs]: readonly [number, number]) => ({
  startMs,
  endMs,
  call: {
    method,
    timeout_s: 0,
    req: method === 'CreateContainer' ? {} : {container_id: `<C:web/${name}/0>`},
    code: 'OK',
    resp: method === 'CreateContainer' ? {containerId: `<C:web/${name}/0>`} : {},
  },
});

test('an object that is changed during a read may be in any state in it, and others may not', () => {
  const history = new ReadHistory([
    listAt(0, {a: 'RUNNING', b: 'RUNNING'}),
    listAt(10, {a: 'RUNNING', b: 'RUNNING'}),
    changeAt('StopContainer', 'a', [10.5, 13]),
    changeAt('CreateContainer', 'c', [10.6, 12]),
    listAt(12.5, {a: 'RUNNING', b: 'RUNNING', c: 'CREATED'}),
    listAt(20, {a: 'EXITED', b: 'RUNNING', c: 'CREATED'}),
  ]);
  const read = (startMs: number, states: Readonly<Record<string, string>>) =>
    history.unknownObjects(listAt(startMs, states));
  expect(read(10, {a: 'EXITED', b: 'RUNNING', c: 'CREATED'})).toEqual([]);
  expect(read(12.5, {a: 'EXITED', b: 'RUNNING', c: 'CREATED'})).toEqual([]);
  expect(read(10, {a: 'RUNNING', b: 'EXITED'})).toEqual(['<C:web/b/0>']);
  expect(read(0, {a: 'EXITED', b: 'RUNNING'})).toEqual(['<C:web/a/0>']);
  expect(read(20, {a: 'RUNNING', b: 'RUNNING', c: 'CREATED'})).toEqual(['<C:web/a/0>']);
});

test('an object that a list lacks or has in addition is unknown, unless a later list is so', () => {
  const history = new ReadHistory([
    ...[listAt(0, {a: 'RUNNING'}), listAt(10, {a: 'RUNNING', b: 'RUNNING'})],
    ...[listAt(20, {a: 'RUNNING'}), listAt(30, {a: 'RUNNING', b: 'RUNNING'}), listAt(40, {b: 'RUNNING'})],
  ]);
  const read = (startMs: number, states: Readonly<Record<string, string>>) =>
    history.unknownObjects(listAt(startMs, states));
  expect(read(10, {a: 'RUNNING'})).toEqual([]);
  expect(read(30, {a: 'RUNNING'})).toEqual(['<C:web/b/0>']);
  expect(read(0, {b: 'RUNNING'})).toEqual([]);
  expect(read(40, {a: 'RUNNING', b: 'RUNNING'})).toEqual(['<C:web/a/0>']);
  expect(read(40, {b: 'RUNNING', c: 'RUNNING'})).toEqual(['<C:web/c/0>']);
});

test('reads that are never answered as recorded take linear time', () => {
  const growth = measureTimeGrowth(20_000, (size) => {
    const reads = Array.from({length: size}, (_, index) =>
      listAt(index, {a: index % 2 === 0 ? 'CREATED' : 'RUNNING'}),
    );
    const changes = reads.map(({startMs}) => changeAt('StartContainer', 'b', [startMs, startMs + 1]));
    const history = new ReadHistory([...reads, ...changes].toSorted((x, y) => x.startMs - y.startMs));
    for (const {startMs} of reads) history.unknownObjects(listAt(startMs, {a: 'UNKNOWN', b: 'RUNNING'}));
  });
  expect(growth).toBeLessThan(LINEAR_GROWTH);
});

test('a container that ran as long as the recording shows of it may have ended by itself', () => {
  const history = new ReadHistory([
    changeAt('StartContainer', 'a', [0, 10]),
    listAt(500, {a: 'CONTAINER_RUNNING'}),
    listAt(1500, {a: 'CONTAINER_RUNNING'}),
    changeAt('StopContainer', 'a', [2000, 2010]),
    listAt(3000, {a: 'CONTAINER_EXITED_BY_SIGNAL'}),
  ]);
  const differs = (startMs: number, ranMs: number | undefined, state = 'CONTAINER_EXITED') =>
    history.unknownObjects(listAt(startMs, {a: state}), () => ranMs).length > 0;
  const cases = [
    [500, 600],
    [1500, 600],
    [1500, 1600],
    [3000, 1600],
    [3000, 1995],
    [500, undefined],
  ] as const;
  expect(cases.map(([startMs, ranMs]) => differs(startMs, ranMs))).toEqual([
    false,
    true,
    false,
    true,
    false,
    true,
  ]);
  expect(differs(500, 600, 'CONTAINER_UNKNOWN')).toBe(true);
});

test('an answer is compared with the most similar one that may come later', () => {
  const status = (startMs: number, fields: Readonly<Record<string, string>>) => ({
    startMs,
    endMs: startMs + 1,
    call: {
      method: 'ContainerStatus',
      timeout_s: 0,
      req: {container_id: '<C:web/a/0>'},
      code: 'OK',
      resp: {status: fields},
    },
  });
  const history = new ReadHistory([
    ...[status(0, {state: 'RUNNING'}), status(10, {state: 'EXITED', reason: 'Completed'})],
    changeAt('RemoveContainer', 'a', [20, 30]),
  ]);
  const replayed = status(0, {state: 'EXITED', reason: 'Completed', user: '1000'});
  const recorded = status(0, {state: 'RUNNING'}).call;
  expect(history.closest(replayed, recorded, ['']).resp).toEqual({
    status: {state: 'EXITED', reason: 'Completed'},
  });
});

test('of a list, each object is compared with the most similar one', () => {
  const reads = [listAt(0, {a: 'RUNNING', b: 'RUNNING'}), listAt(10, {a: 'EXITED', b: 'RUNNING'})] as const;
  const history = new ReadHistory(reads);
  const replayed = listAt(0, {a: 'EXITED', b: 'PAUSED'});
  const {resp} = history.closest(replayed, reads[0].call, ['<C:web/a/0>', '<C:web/b/0>']);
  expect(resp?.['containers']).toEqual([
    {id: '<C:web/a/0>', state: 'EXITED'},
    {id: '<C:web/b/0>', state: 'RUNNING'},
  ]);
});
