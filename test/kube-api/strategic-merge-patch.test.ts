import {expect, test} from 'vitest';
import {createMergePatch} from '../../src/kube-api/strategic-merge-patch.js';
import {applyMergePatch} from '../fakes/api-server/merge-patch.js';

type Json = Readonly<Record<string, unknown>>;

const ready = {type: 'Ready', status: 'False', reason: 'ContainersNotReady', message: 'not yet'};
const scheduled = {type: 'PodScheduled', status: 'True'};

test.each<[string, Json, Json, Json]>([
  ['nothing for equal objects', {a: 1, b: {c: [1]}}, {a: 1, b: {c: [1]}}, {}],
  ['a changed field', {a: 1, b: 2}, {a: 1, b: 3}, {b: 3}],
  ['null for a removed field', {a: 1, b: 2}, {a: 1}, {b: null}],
  ['the changed part of an object', {a: {b: 1, c: 2}}, {a: {b: 1, c: 3}}, {a: {c: 3}}],
  ['a whole list without merge key', {names: ['a']}, {names: ['a', 'b']}, {names: ['a', 'b']}],
  [
    // The third patch of a pod that becomes ready.
    'the changed fields of a condition, with the order of all',
    {conditions: [scheduled, ready]},
    {conditions: [{type: 'Ready', status: 'True'}, scheduled]},
    {
      '$setElementOrder/conditions': [{type: 'Ready'}, {type: 'PodScheduled'}],
      conditions: [{type: 'Ready', status: 'True', reason: null, message: null}],
    },
  ],
  [
    'a directive for a removed condition',
    {conditions: [scheduled, ready]},
    {conditions: [scheduled]},
    {
      '$setElementOrder/conditions': [{type: 'PodScheduled'}],
      conditions: [{$patch: 'delete', type: 'Ready'}],
    },
  ],
  ['a whole list that did not exist', {}, {podIPs: [{ip: '10.0.0.1'}]}, {podIPs: [{ip: '10.0.0.1'}]}],
])('a patch has %s', (_title, before, after, expected) => {
  const patch = createMergePatch(before, after);
  expect(patch).toEqual(expected);
  expect(applyMergePatch(before, {...patch})).toEqual(after);
});
