import {expect, test} from 'vitest';
import {computeFieldChanges} from '../../../src/kubelet/sources/field-changes.js';

test.each([
  ['nothing', {a: 1, b: ['x']}, {a: 1, b: ['x']}, []],
  ['a changed field', {a: 1}, {a: 2}, [{path: 'a', before: 1, after: 2}]],
  ['an added field', {}, {a: {b: 1}}, [{path: 'a', after: {b: 1}}]],
  ['a removed field', {a: null}, {}, [{path: 'a', before: null}]],
  ['a nested field', {a: {b: 1}}, {a: {b: 2}}, [{path: 'a.b', before: 1, after: 2}]],
  [
    'a key with dots',
    {a: {'x.y/z': '1'}},
    {a: {'x.y/z': '2'}},
    [{path: 'a[x.y/z]', before: '1', after: '2'}],
  ],
  [
    'a list of scalars as a whole',
    {a: ['x']},
    {a: ['x', 'y']},
    [{path: 'a', before: ['x'], after: ['x', 'y']}],
  ],
  [
    'list items by name',
    {l: [{name: 'a', v: 1}, {name: 'b'}]},
    {l: [{name: 'b'}, {name: 'a', v: 2}]},
    [{path: 'l[a].v', before: 1, after: 2}],
  ],
  ['list items by index', {l: [{v: 1}]}, {l: [{v: 2}]}, [{path: 'l[0].v', before: 1, after: 2}]],
  [
    'list items with duplicate names by index',
    {l: [{name: 'a'}, {name: 'a'}]},
    {l: [{name: 'a'}, {name: 'a', v: 1}]},
    [{path: 'l[1].v', after: 1}],
  ],
  ['a value of another type', {a: {b: 1}}, {a: [1]}, [{path: 'a', before: {b: 1}, after: [1]}]],
  ['a list that becomes empty', {a: [{name: 'x'}]}, {a: []}, [{path: 'a', before: [{name: 'x'}], after: []}]],
])('computeFieldChanges reports %s', (_, before, after, changes) => {
  expect(computeFieldChanges(before, after)).toEqual(changes);
});
