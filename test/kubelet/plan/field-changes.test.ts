import {expect, test} from 'vitest';
import {computeFieldChanges} from '../../../src/kubelet/plan/field-changes.js';

test.each([
  ['nothing', {a: 1, b: ['x']}, {a: 1, b: ['x']}, []],
  ['a field', {a: 1}, {a: 2}, [{path: 'a', before: 1, after: 2}]],
  ['a new field', {}, {a: {b: 1}}, [{path: 'a', after: {b: 1}}]],
  ['a lost field', {a: null}, {}, [{path: 'a', before: null}]],
  ['a field below', {a: {b: 1}}, {a: {b: 2}}, [{path: 'a.b', before: 1, after: 2}]],
  [
    'a key with dots',
    {a: {'x.y/z': '1'}},
    {a: {'x.y/z': '2'}},
    [{path: 'a[x.y/z]', before: '1', after: '2'}],
  ],
  [
    'a list of plain data as a whole',
    {a: ['x']},
    {a: ['x', 'y']},
    [{path: 'a', before: ['x'], after: ['x', 'y']}],
  ],
  [
    'members by their names',
    {l: [{name: 'a', v: 1}, {name: 'b'}]},
    {l: [{name: 'b'}, {name: 'a', v: 2}]},
    [{path: 'l[a].v', before: 1, after: 2}],
  ],
  ['members by their place', {l: [{v: 1}]}, {l: [{v: 2}]}, [{path: 'l[0].v', before: 1, after: 2}]],
  [
    'members of which two have one name by their place',
    {l: [{name: 'a'}, {name: 'a'}]},
    {l: [{name: 'a'}, {name: 'a', v: 1}]},
    [{path: 'l[1].v', after: 1}],
  ],
  ['another kind of data', {a: {b: 1}}, {a: [1]}, [{path: 'a', before: {b: 1}, after: [1]}]],
  [
    'a list that has become empty',
    {a: [{name: 'x'}]},
    {a: []},
    [{path: 'a', before: [{name: 'x'}], after: []}],
  ],
])('%s', (_, before, after, changes) => {
  expect(computeFieldChanges(before, after)).toEqual(changes);
});
