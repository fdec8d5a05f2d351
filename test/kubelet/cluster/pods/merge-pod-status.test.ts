import {describe, expect, test} from 'vitest';
import type {PodCondition, PodStatus} from '../../../../src/api/types/v1-status.js';
import {mergePodStatus} from '../../../../src/kubelet/cluster/pods/merge-pod-status.js';

const ready: PodCondition = {type: 'Ready', status: 'True'};
const gate: PodCondition = {type: 'example.com/lb', status: 'True'};
const disruption: PodCondition = {type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet'};

describe('the phase', () => {
  test.each([
    ['the computed one', {stored: 'Pending', computed: 'Running', couldRun: true, sent: 'Running'}],
    [
      'not terminal while containers may run',
      {stored: 'Running', computed: 'Failed', couldRun: true, sent: 'Running'},
    ],
    [
      'terminal when no container can run',
      {stored: 'Running', computed: 'Failed', couldRun: false, sent: 'Failed'},
    ],
    [
      'never changed once it is terminal',
      {stored: 'Succeeded', computed: 'Running', couldRun: false, sent: 'Succeeded'},
    ],
  ] as const)('is %s', (_title, {stored, computed, couldRun, sent}) => {
    expect(mergePodStatus({phase: stored}, {phase: computed}, couldRun).phase).toBe(sent);
  });

  test('that is delayed delays reason and message too', () => {
    const computed: PodStatus = {phase: 'Failed', reason: 'Evicted', message: 'disk'};
    expect(mergePodStatus({phase: 'Running'}, computed, true)).toEqual({phase: 'Running'});
    expect(mergePodStatus({phase: 'Running'}, computed, false)).toEqual(computed);
  });
});

describe('conditions', () => {
  test('of others are kept, before the own ones', () => {
    const stored: PodStatus = {conditions: [{type: 'Ready', status: 'False'}, gate]};
    expect(mergePodStatus(stored, {conditions: [ready]}, true).conditions).toEqual([gate, ready]);
  });

  test('of others are kept for a rejected pod, and no own ones, also not those of the scheduler', () => {
    const scheduled: PodCondition = {type: 'PodScheduled', status: 'True'};
    const rejected: PodStatus = {phase: 'Failed'};
    expect(mergePodStatus({conditions: [scheduled]}, rejected, false)).toEqual(rejected);
    expect(mergePodStatus({conditions: [scheduled, gate]}, rejected, false).conditions).toEqual([gate]);
    expect(mergePodStatus({conditions: [gate]}, {phase: 'Failed'}, false).conditions).toEqual([gate]);
  });

  test('DisruptionTarget is sent with the terminal phase only', () => {
    const computed: PodStatus = {phase: 'Failed', conditions: [disruption]};
    expect(mergePodStatus({phase: 'Running'}, computed, true).conditions).toEqual([]);
    expect(mergePodStatus({phase: 'Running'}, computed, false).conditions).toEqual([disruption]);
  });

  test.each<['Succeeded' | 'Failed', string]>([
    ['Succeeded', 'PodCompleted'],
    ['Failed', 'PodFailed'],
  ])('of readiness are false in the phase %s', (phase, reason) => {
    const {conditions} = mergePodStatus({}, {phase, conditions: [ready]}, false);
    expect(conditions).toEqual([{type: 'Ready', status: 'False', reason}]);
  });
});

test('fields that others own are kept', () => {
  const stored: PodStatus = {
    nominatedNodeName: 'n',
    resourceClaimStatuses: [{name: 'c'}],
    qosClass: 'Burstable',
  };
  expect(mergePodStatus(stored, {podIP: '10.0.0.1', qosClass: 'BestEffort'}, true)).toEqual({
    ...stored,
    podIP: '10.0.0.1',
  });
});
