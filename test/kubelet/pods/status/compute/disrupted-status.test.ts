import {expect, test} from 'vitest';
import {computeDisruptedStatus} from '../../../../../src/kubelet/pods/status/compute/disrupted-status.js';
import {aPod} from '../../../../fakes/a-pod.js';

const disruption = {reason: 'Evicted', message: 'The node was low on memory.', conditionMessage: 'low'};

test('the condition DisruptionTarget has the time at which the containers have stopped', () => {
  const [evicted, stopped] = ['2026-05-01T12:00:00Z', '2026-05-01T12:00:30Z'] as const;
  const first = computeDisruptedStatus(aPod(), {phase: 'Running'}, disruption, evicted);
  const {phase, conditions} = computeDisruptedStatus(aPod(), first, disruption, stopped);
  expect(phase).toBe('Failed');
  expect(conditions).toMatchObject([{type: 'DisruptionTarget', status: 'True', lastTransitionTime: stopped}]);
});
