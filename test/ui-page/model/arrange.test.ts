import {expect, test} from 'vitest';
import {omit} from '../../../src/base/omit.js';
import {arrangeRows, titleOf, type RowOrder} from '../../../src/ui-page/model/arrange.js';
import {INITIAL_TABLE} from '../../../src/ui-page/model/table-state.js';
import {aUiContainer, aUiPod} from '../../fakes/ui/ui-builders.js';

const WEB = aUiPod({
  name: 'web',
  restarts: 3,
  cpuPercent: 5,
  containers: [aUiContainer('web', {name: 'nginx', image: 'registry.example/nginx:1'}), aUiContainer('web')],
});
const DB = omit(aUiPod({name: 'db', namespace: 'shop', node: 'node-2', manager: 'kubelet'}), 'cpuPercent');
const JOB = aUiPod({name: 'job', state: 'CrashLoopBackOff', tone: 'bad', cpuPercent: 70});

function titles(order: Partial<RowOrder>): readonly string[] {
  return arrangeRows([WEB, DB, JOB], {...INITIAL_TABLE, ...order}).map(titleOf);
}

const [WEB_TITLE, DB_TITLE, JOB_TITLE] = ['default/web', 'shop/db', 'default/job'];

test.each([
  ['name', [JOB_TITLE, WEB_TITLE, DB_TITLE]],
  ['node', [JOB_TITLE, WEB_TITLE, DB_TITLE]],
  ['state', [JOB_TITLE, WEB_TITLE, DB_TITLE]],
  ['restarts', [WEB_TITLE, JOB_TITLE, DB_TITLE]],
  ['cpu', [JOB_TITLE, WEB_TITLE, DB_TITLE]],
  ['memory', [JOB_TITLE, WEB_TITLE, DB_TITLE]],
] as const)('rows are sorted by %s', (sort, expected) => {
  expect(titles({sort})).toEqual(expected);
});

test('unknown values are last in both directions', () => {
  expect(titles({sort: 'cpu', reversed: true})).toEqual([WEB_TITLE, JOB_TITLE, DB_TITLE]);
});

test.each([
  ['', 3],
  ['web', 1],
  ['WEB', 1],
  ['shop/', 1],
  ['state:crash', 1],
  ['state:crash web', 0],
  ['node:node-2', 1],
  ['manager:kubelet', 1],
  ['namespace:default job', 1],
  ['image:registry.example/nginx', 1],
  ['color:red', 0],
] as const)('the filter "%s" finds %i pods', (filter, count) => {
  expect(new Set(arrangeRows([WEB, DB, JOB], {...INITIAL_TABLE, filter}).map(({pod}) => pod.key)).size).toBe(
    count,
  );
});

test('containers are shown below an expanded pod, and those that a filter finds below theirs', () => {
  const expanded = new Set([WEB.key]);
  expect(titles({expanded})).toEqual([
    JOB_TITLE,
    WEB_TITLE,
    'default/web/app',
    'default/web/nginx',
    DB_TITLE,
  ]);
  expect(titles({filter: 'nginx'})).toEqual([WEB_TITLE, 'default/web/nginx']);
});

test('without the tree there are only containers', () => {
  expect(titles({tree: false})).toEqual([
    'default/job/app',
    'default/web/app',
    'default/web/nginx',
    'shop/db/app',
  ]);
});
