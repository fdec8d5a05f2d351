import {expect, test} from 'vitest';
import {HISTORY_LENGTH, NODE_KEY, UsageHistory} from '../../../../src/features/top/model/usage-history.js';
import {aGroup} from '../top-builders.js';

const NODE = {cpu: 50, memory: 1000};

test('keeps the last samples of each row and of the node', () => {
  const history = new UsageHistory();
  for (let cpuPercent = 0; cpuPercent < HISTORY_LENGTH + 10; cpuPercent += 1)
    history.record([aGroup('web', ['main'], {cpuPercent})], NODE);
  expect(history.last('pod web', 'cpu', 3)).toEqual([127, 128, 129]);
  expect(history.last('container web main', 'cpu', 1000)).toHaveLength(HISTORY_LENGTH);
  expect(history.last(NODE_KEY, 'memory', 2)).toEqual([1000, 1000]);
});

test('forgets rows that are gone; unknown usage counts as none', () => {
  const history = new UsageHistory();
  history.record([aGroup('web', ['main'], {cpuPercent: undefined})], NODE);
  expect(history.lastCpu({key: 'pod web'})).toBe(0);
  history.record([], NODE);
  expect(history.lastCpu({key: 'pod web'})).toBeUndefined();
});

test('rows of a node that does not answer keep their samples, and none is added', () => {
  const history = new UsageHistory();
  history.record([aGroup('web', ['main'], {cpuPercent: 7})], NODE);
  history.record([aGroup('web', ['main'], {cpuPercent: 7, isStale: true})], NODE);
  expect(history.last('pod web', 'cpu', 5)).toEqual([7]);
  expect(history.last(NODE_KEY, 'cpu', 5)).toEqual([50, 50]);
});
