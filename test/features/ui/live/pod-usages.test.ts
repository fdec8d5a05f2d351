import {expect, test} from 'vitest';
import {PodUsages} from '../../../../src/features/ui/live/pod-usages.js';
import type {TopGroup, TopItem} from '../../../../src/features/top/model/top-item.js';

type Samples = Parameters<PodUsages['compute']>[0];

function anItem(name: string, more: Partial<TopItem>): TopItem {
  return {
    ...{key: `pod ${name}`, kind: 'pod', podKey: name, node: undefined, isStale: false, namespace: 'default'},
    ...{pod: name, name, ready: '1/1', state: 'Running', restarts: 0, probes: '', cpuPercent: undefined},
    ...{
      memoryBytes: undefined,
      startedMs: undefined,
      manager: 'kcri',
      exclusiveCpus: '',
      containerId: undefined,
    },
    ...more,
  };
}

/** A pod with running containers of these IDs. */
function aGroup(name: string, ids: readonly string[], more: Partial<TopItem> = {}): TopGroup {
  const containers = ids.map((id) =>
    anItem(name, {key: `container ${id}`, kind: 'container', containerId: id, ...more}),
  );
  return {pod: anItem(name, more), containers};
}

function aSample(
  used: Readonly<Record<string, readonly [number | 'stale' | 'new', bigint]>>,
  node?: string,
): Samples[number] {
  const entries = Object.entries(used).map(([id, [cpuPercent, memoryBytes]]) => [
    id,
    {cpuPercent, memoryBytes},
  ]);
  return {node, usage: new Map(entries as [])};
}

const numbers = (
  usages: ReadonlyMap<string, {readonly numbers: readonly (number | null)[]}>,
  key = 'pod a',
) => usages.get(key)?.numbers;

test('a pod has the sums of its containers, which follow in their order', () => {
  const usages = new PodUsages().compute(
    [aSample({x: [1.234, 10n], y: [2, 20n]})],
    [aGroup('a', ['x', 'y', 'z'])],
  );
  expect(numbers(usages)).toEqual([3.23, 30, 1.23, 10, 2, 20, null, null]);
  expect(usages.get('pod a')?.text).toBe('[3.23,30,1.23,10,2,20,null,null]');
});

test('a container that was not measured again has its last CPU usage, and a new one none', () => {
  const usages = new PodUsages();
  const groups = [aGroup('a', ['x'])];
  expect(numbers(usages.compute([aSample({x: ['new', 10n]})], groups))).toEqual([null, 10, null, 10]);
  expect(numbers(usages.compute([aSample({x: [7, 10n]})], groups))).toEqual([7, 10, 7, 10]);
  expect(numbers(usages.compute([aSample({x: ['stale', 10n]})], groups))).toEqual([7, 10, 7, 10]);
});

test('a container that does not run has no usage', () => {
  const groups = [aGroup('a', ['x'], {state: 'Completed'})];
  expect(numbers(new PodUsages().compute([aSample({x: [7, 10n]})], groups))).toEqual([
    null,
    null,
    null,
    null,
  ]);
});

test.each<[string, [number, bigint], boolean]>([
  ['CPU usage by less than the page shows', [5.0004, 123_456_789n], true],
  ['memory by less than the page shows', [5, 123_451_234n], true],
  ['CPU usage', [5.01, 123_456_789n], false],
  ['memory', [5, 123_556_789n], false],
])('a change of %s: the same object %s', (_, used, isSame) => {
  const usages = new PodUsages();
  const groups = [aGroup('a', ['x'])];
  const first = usages.compute([aSample({x: [5, 123_456_789n]})], groups).get('pod a');
  expect(usages.compute([aSample({x: used})], groups).get('pod a') === first).toBe(isSame);
});

test('containers of the same ID on two nodes are kept apart, and pods that are gone are forgotten', () => {
  const usages = new PodUsages();
  const [a, b] = [aGroup('a', ['x'], {node: 'n1'}), aGroup('b', ['x'], {node: 'n2'})];
  const found = usages.compute([aSample({x: [1, 1n]}, 'n1'), aSample({x: [2, 2n]}, 'n2')], [a, b]);
  expect([numbers(found), numbers(found, 'pod b')]).toEqual([
    [1, 1, 1, 1],
    [2, 2, 2, 2],
  ]);
  expect([...usages.compute([], []).keys()]).toEqual([]);
  expect(numbers(usages.compute([aSample({x: ['stale', 1n]}, 'n1')], [a]))).toEqual([null, 1, null, 1]);
});
