import {expect, test} from 'vitest';
import type {ContainerStatus, PodStatus} from '../../../../../src/api/types/v1-status.js';
import {
  applyProbeResult,
  type ProbedInstance,
} from '../../../../../src/kubelet/pods/status/compute/apply-probe-result.js';
import {aContainer, aContainerStatus, aPod} from '../../../../fakes/a-pod.js';

const BEFORE = '2026-05-01T12:00:00Z';
const NOW = '2026-05-01T12:00:05Z';
const UNREADY = {reason: 'ContainersNotReady', message: 'containers with unready status: [main]'};

const pod = aPod({containers: [aContainer({name: 'main'})]});

/** Returns the status of a pod whose container has been ready or not since BEFORE. */
function aStatus(fields: Pick<ContainerStatus, 'ready' | 'started'>, phase: PodStatus['phase'] = 'Running') {
  const held = fields.ready ? ({status: 'True'} as const) : ({status: 'False', ...UNREADY} as const);
  return {
    phase,
    conditions: [
      {type: 'Initialized', status: 'True', lastTransitionTime: BEFORE},
      {type: 'Ready', ...held, lastTransitionTime: BEFORE},
      {type: 'ContainersReady', ...held, lastTransitionTime: BEFORE},
    ],
    containerStatuses: [aContainerStatus({containerID: 'x://c1', ...fields})],
  } satisfies PodStatus;
}

const probed = (fields: Partial<ProbedInstance>): ProbedInstance => ({
  probe: 'readiness',
  status: 'ready',
  containerID: 'x://c1',
  now: NOW,
  ...fields,
});

test.each([
  ['ready', {ready: false, started: true}, {status: 'True'}],
  ['not ready', {ready: true, started: true}, {status: 'False', ...UNREADY}],
] as const)(
  'a container that becomes %s updates the pod conditions with a new transition time',
  (status, before, condition) => {
    const old = aStatus(before);
    const now = applyProbeResult(pod, old, probed({status}));
    expect(now?.containerStatuses).toMatchObject([{ready: !before.ready, started: true}]);
    expect(now?.conditions).toEqual([
      old.conditions[0],
      {type: 'Ready', ...condition, lastTransitionTime: NOW},
      {type: 'ContainersReady', ...condition, lastTransitionTime: NOW},
    ]);
  },
);

test('the conditions name the generation of the pod', () => {
  const third = {...pod, metadata: {...pod.metadata, generation: 3}};
  const now = applyProbeResult(third, aStatus({ready: true, started: true}), probed({status: 'not ready'}));
  expect(now?.conditions?.map(({observedGeneration}) => observedGeneration)).toEqual([undefined, 3, 3]);
});

test('a passed startup probe changes only the started field', () => {
  const old = aStatus({ready: false, started: false});
  const now = applyProbeResult(pod, old, probed({probe: 'startup', status: 'started'}));
  expect(now).toEqual({...old, containerStatuses: [{...old.containerStatuses[0], started: true}]});
});

test.each([
  ['a result equal to the status', {}],
  ['a result of another instance', {containerID: 'x://c2', status: 'not ready'}],
  ['a liveness result', {probe: 'liveness', status: 'unhealthy'}],
] as const)('%s changes nothing', (_, fields) => {
  expect(applyProbeResult(pod, aStatus({ready: true, started: true}), probed(fields))).toBeUndefined();
});

test('the readiness of a sidecar counts, and a succeeded pod stays unready', () => {
  const {containerStatuses, ...rest} = aStatus({ready: true, started: true}, 'Succeeded');
  const sidecar = {...containerStatuses[0]!, name: 'side', containerID: 'x://c2'};
  const withSidecar = aPod({
    initContainers: [aContainer({name: 'side', restartPolicy: 'Always'})],
    containers: [aContainer({name: 'main'})],
  });
  const status = {...rest, initContainerStatuses: [sidecar], containerStatuses};
  const unready = probed({containerID: 'x://c2', status: 'not ready'});
  const message = 'containers with unready status: [side]';
  const running = applyProbeResult(withSidecar, {...status, phase: 'Running'}, unready);
  expect(running?.initContainerStatuses).toMatchObject([{ready: false}]);
  expect(running?.conditions?.slice(1)).toMatchObject([{message}, {message}]);
  const ended = applyProbeResult(withSidecar, status, unready);
  expect(ended?.conditions?.slice(1)).toMatchObject([{reason: 'PodCompleted'}, {reason: 'PodCompleted'}]);
});
