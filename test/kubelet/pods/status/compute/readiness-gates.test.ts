import {expect, test} from 'vitest';
import type {PodCondition} from '../../../../../src/api/types/v1-status.js';
import type {ContainerState} from '../../../../../src/cri/index.js';
import {aPod} from '../../../../fakes/a-pod.js';
import {anInstance, aRuntimePod} from '../../../../fakes/a-runtime-pod.js';
import {computeStatus} from './compute-status.js';

const GATED = aPod({
  readinessGates: [{conditionType: 'example.com/lb'}, {conditionType: 'example.com/dns'}],
});

function conditions(state: ContainerState): readonly PodCondition[] {
  const {conditions = []} = computeStatus({
    pod: GATED,
    runtime: aRuntimePod([anInstance('main', state)]),
  });
  return conditions.filter(({type}) => type === 'Ready' || type === 'ContainersReady');
}

// Proves: PodSpec.readinessGates
test('a pod with missing readiness gate conditions is not Ready, although its containers are', () => {
  expect(conditions('CONTAINER_RUNNING')).toMatchObject([
    {
      type: 'Ready',
      status: 'False',
      reason: 'ReadinessGatesNotReady',
      message:
        'corresponding condition of pod readiness gate "example.com/lb" does not exist., corresponding condition of pod readiness gate "example.com/dns" does not exist.',
    },
    {type: 'ContainersReady', status: 'True'},
  ]);
});

test('ContainersNotReady takes precedence over ReadinessGatesNotReady', () => {
  expect(conditions('CONTAINER_EXITED')).toMatchObject([
    {type: 'Ready', reason: 'ContainersNotReady'},
    {type: 'ContainersReady', reason: 'ContainersNotReady'},
  ]);
});

test.each<[string, PodCondition['status'], object]>([
  ['ready', 'True', {status: 'True'}],
  [
    'not ready',
    'False',
    {
      status: 'False',
      message: 'the status of pod readiness gate "example.com/dns" is not "True", but False',
    },
  ],
])('a pod is %s if a gate has the status %s in the API server', (_title, dns, expected) => {
  const gates: readonly PodCondition[] = [
    {type: 'example.com/lb', status: 'True'},
    {type: 'example.com/dns', status: dns},
  ];
  const pod = {...GATED, status: {conditions: gates}};
  const {conditions: all = []} = computeStatus({
    pod,
    runtime: aRuntimePod([anInstance('main', 'CONTAINER_RUNNING')]),
  });
  expect(all.find(({type}) => type === 'Ready')).toMatchObject(expected);
});
