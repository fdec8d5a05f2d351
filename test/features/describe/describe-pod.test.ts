import {expect, test} from 'vitest';
import {describePod} from '../../../src/features/describe/describe-pod.js';
import {aPod} from '../../fakes/a-pod.js';

test('the controller is shown of several owners', () => {
  const owner = {apiVersion: 'apps/v1', uid: 'u'};
  const ownerReferences = [
    {...owner, kind: 'Node', name: 'n'},
    {...owner, kind: 'ReplicaSet', name: 'web', controller: true},
  ];

  expect(describePod(aPod({}, {ownerReferences}), {events: []}, 0)).toMatch(
    /^Controlled By: +ReplicaSet\/web$/m,
  );
  expect(describePod(aPod(), {events: []}, 0)).not.toContain('Controlled By');
});
