import {expect, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import {podUid} from '../../../../src/cri/index.js';
import {PodGroups} from '../../../../src/features/ui/live/pod-groups.js';
import type {ListedSample} from '../../../../src/features/top/model/top-item.js';

function aPod(name: string): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name, namespace: 'default', uid: name},
    spec: {containers: [{name: 'main', image: 'busybox'}]},
    status: {
      containerStatuses: [
        {
          ...{name: 'main', ready: true, restartCount: 0, image: '', imageID: ''},
          containerID: `containerd://${name}`,
          state: {running: {startedAt: '2026-01-01T00:00:00Z'}},
        },
      ],
    },
  };
}

type Used = {readonly cpuPercent: number | 'stale'; readonly memoryBytes: bigint};

function aSample(
  pods: readonly Pod[],
  {
    node,
    used = {},
    cpus = [],
    ...more
  }: Partial<ListedSample> & {
    used?: Readonly<Record<string, Used>>;
    cpus?: readonly (readonly [string, ReadonlyMap<string, string>])[];
  } = {},
): ListedSample {
  return {
    node,
    pods,
    shown: pods.map((pod) => ({
      listed: {
        ...{uid: podUid(pod.metadata.uid ?? ''), namespace: 'default', name: pod.metadata.name ?? ''},
        ...{labels: {}, manager: 'none'},
      },
      pod,
    })),
    usage: new Map(Object.entries(used)) as unknown as ListedSample['usage'],
    exclusiveCpus: new Map(cpus),
    events: [],
    nowMs: 0,
    isStale: false,
    ...more,
  };
}

test('only rows of pods that changed are computed again', () => {
  const rows = new PodGroups();
  const [a, b] = [aPod('a'), aPod('b')];
  const [firstA, firstB] = rows.compute([aSample([a, b])]);
  const changed = aPod('b');
  const [secondA, secondB, ...others] = rows.compute([aSample([a, changed])]);
  expect(others).toEqual([]);
  expect(secondA).toBe(firstA);
  expect(secondB).not.toBe(firstB);
  expect(secondB).toEqual(firstB);
});

test.each<[string, Parameters<typeof aSample>[1], object]>([
  ['exclusive CPUs', {cpus: [['a', new Map([['main', '2-3']])]]}, {exclusiveCpus: '2-3'}],
  ['a node that does not answer', {isStale: true}, {isStale: true}],
])('a row is computed again after %s', (_change, sample, expected) => {
  const rows = new PodGroups();
  const pod = aPod('a');
  rows.compute([aSample([pod], {used: {a: {cpuPercent: 1, memoryBytes: 3n}}})]);
  const [group] = rows.compute([aSample([pod], sample)]);
  expect(group?.containers[0]).toMatchObject(expected);
});

test('usage changes no row', () => {
  const rows = new PodGroups();
  const pod = aPod('a');
  const use = (cpuPercent: number) => aSample([pod], {used: {a: {cpuPercent, memoryBytes: 3n}}});
  const [first] = rows.compute([use(5)]);
  const [second] = rows.compute([use(6)]);
  expect(second).toBe(first);
});

test('pods of nodes are kept apart, and pods that are gone are forgotten', () => {
  const rows = new PodGroups();
  const pod = aPod('a');
  const groups = rows.compute([aSample([pod], {node: 'x'}), aSample([pod], {node: 'y'})]);
  expect(groups.map(({pod: {key}}) => key)).toEqual(['pod x a', 'pod y a']);
  expect(rows.compute([])).toEqual([]);
  const [again] = rows.compute([aSample([pod], {node: 'x'})]);
  expect(again).not.toBe(groups[0]);
});
