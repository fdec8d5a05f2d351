import {expect, test} from 'vitest';
import {arrangeRows, type RowOrder} from '../../../../src/features/top/model/top-rows.js';
import {aContainerItem, aGroup} from '../top-builders.js';

const TREE: RowOrder = {sort: 'name', reversed: false, tree: true, filter: ''};
const ordered = (groups: Parameters<typeof arrangeRows>[0], order: Partial<RowOrder>) =>
  arrangeRows(groups, {...TREE, ...order}).map(({kind, pod, name}) =>
    kind === 'pod' ? pod : `${pod}/${name}`,
  );

const GROUPS = [
  {
    ...aGroup('web', [], {cpuPercent: 30, memoryBytes: 5, restarts: 1, startedMs: 20}),
    containers: [
      aContainerItem('web', 'nginx', {cpuPercent: 10}),
      aContainerItem('web', 'sidecar', {cpuPercent: 20}),
    ],
  },
  aGroup('api', ['main'], {cpuPercent: 50, memoryBytes: 1, restarts: 2, startedMs: 10}),
  aGroup('job', ['run'], {cpuPercent: undefined, memoryBytes: undefined, restarts: 0, startedMs: undefined}),
];

test.each([
  ['name', false, ['api', 'job', 'web']],
  ['name', true, ['web', 'job', 'api']],
  ['cpu', false, ['api', 'web', 'job']],
  ['memory', false, ['web', 'api', 'job']],
  ['memory', true, ['api', 'web', 'job']],
  ['restarts', false, ['api', 'web', 'job']],
  ['age', false, ['web', 'api', 'job']],
] as const)('pods are sorted by %s, reversed: %s; unknown values come last', (sort, reversed, pods) => {
  const rows = ordered(GROUPS, {sort, reversed}).filter((row) => !row.includes('/'));
  expect(rows).toEqual(pods);
});

test('rows of several nodes are sorted by node, then by name, and filtered by node', () => {
  const onNode = (pod: string, node: string) => aGroup(pod, ['main'], {node});
  const groups = [onNode('web', 'b'), onNode('job', 'a'), onNode('api', 'b')];
  const order = {...TREE, sort: 'node'} as const;
  const pods = (changes: Partial<RowOrder>) =>
    arrangeRows(groups, {...order, ...changes}).flatMap(({kind, pod, node}) =>
      kind === 'pod' ? [`${node}/${pod}`] : [],
    );
  expect(pods({})).toEqual(['a/job', 'b/api', 'b/web']);
  expect(pods({reversed: true})).toEqual(['b/api', 'b/web', 'a/job']);
  expect(pods({filter: ' b'})).toEqual(['b/api', 'b/web']);
});

test('containers are below their pods and sorted like them', () => {
  expect(ordered(GROUPS, {sort: 'cpu'})).toEqual([
    'api',
    'api/main',
    'web',
    'web/sidecar',
    'web/nginx',
    'job',
    'job/run',
  ]);
});

test('without the tree only containers are shown', () => {
  expect(ordered(GROUPS, {sort: 'cpu', tree: false})).toEqual([
    'api/main',
    'web/sidecar',
    'web/nginx',
    'job/run',
  ]);
});

test.each([
  ['SIDE', ['web', 'web/sidecar']],
  ['default/web', ['web', 'web/nginx', 'web/sidecar']],
  ['kubelet', []],
  ['running', ['api', 'api/main', 'job', 'job/run', 'web', 'web/nginx', 'web/sidecar']],
])('the filter %s selects rows by name, state and manager', (filter, rows) => {
  expect(ordered(GROUPS, {filter})).toEqual(rows);
});

test('ten thousand pods are arranged', () => {
  const groups = Array.from({length: 10_000}, (_, index) =>
    aGroup(`pod-${index}`, ['main'], {cpuPercent: index % 100}),
  );
  expect(arrangeRows(groups, {...TREE, sort: 'cpu'})).toHaveLength(20_000);
});
