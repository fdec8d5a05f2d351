import {describe, expect, test} from 'vitest';
import type {Container, Pod, PodSpec} from '../../../src/api/types/v1-pod.js';
import type {ContainerState, ContainerStatus, PodStatus} from '../../../src/api/types/v1-status.js';
import {computePodRow} from '../../../src/features/pods/pod-row.js';
import {aContainer, aContainerStatus, aPod} from '../../fakes/a-pod.js';

const NOW = Date.parse('2026-05-01T12:10:00Z');
const AT = '2026-05-01T12:05:00Z';

const running: ContainerState = {running: {startedAt: AT}};
const waiting = (reason: string): ContainerState => ({waiting: {reason}});
const terminated = (exitCode: number, reason?: string, signal?: number): ContainerState => ({
  terminated: {exitCode, finishedAt: AT, ...(reason && {reason}), ...(signal && {signal})},
});

interface ContainerFacts {
  readonly state: ContainerState;
  readonly ready?: boolean;
  readonly restarts?: number;
  readonly last?: ContainerState;
  readonly sidecar?: boolean;
}

const status = (name: string, facts: ContainerFacts): ContainerStatus =>
  aContainerStatus({
    name,
    state: facts.state,
    ready: facts.ready ?? facts.state.running !== undefined,
    started: facts.state.running !== undefined,
    restartCount: facts.restarts ?? 0,
    ...(facts.last && {lastState: facts.last}),
  });

/** Returns a pod with containers and init containers in these states. */
function aPodOf(
  regular: readonly ContainerFacts[],
  {
    init = [],
    ...more
  }: {init?: readonly ContainerFacts[]; status?: PodStatus; spec?: Partial<PodSpec>; metadata?: object} = {},
): Pod {
  const container = (name: string, {sidecar}: ContainerFacts): Container =>
    aContainer({name, ...(sidecar === true && {restartPolicy: 'Always'})});
  const spec = {
    containers: regular.map((facts, index) => container(`c${index}`, facts)),
    initContainers: init.map((facts, index) => container(`i${index}`, facts)),
    ...more.spec,
  };
  return {
    ...aPod(spec, {creationTimestamp: '2026-05-01T11:00:00Z', ...more.metadata}),
    status: {
      phase: 'Running',
      containerStatuses: regular.map((facts, index) => status(`c${index}`, facts)),
      initContainerStatuses: init.map((facts, index) => status(`i${index}`, facts)),
      ...more.status,
    },
  };
}

const READY = {type: 'Ready', status: 'True'} as const;
const INITIALIZED = {type: 'Initialized', status: 'True'} as const;
const creating: ContainerFacts = {state: waiting('PodInitializing')};

// Columns ready, status and restarts as in printers.go printPod.
const ROWS: readonly (readonly [string, Pod, string])[] = [
  ['runs', aPodOf([{state: running}]), '1/1 Running 0'],
  ['is not ready', aPodOf([{state: running, ready: false}]), '0/1 Running 0'],
  [
    'is waiting without a reason',
    aPodOf([{state: {waiting: {}}}], {status: {phase: 'Pending'}}),
    '0/1 Pending 0',
  ],
  [
    'crashes',
    aPodOf([{state: waiting('CrashLoopBackOff'), restarts: 3, last: terminated(1)}]),
    '0/1 CrashLoopBackOff 3 (5m ago)',
  ],
  ['was restarted at an unknown time', aPodOf([{state: running, restarts: 2}]), '1/1 Running 2'],
  ['has a last state but no restart', aPodOf([{state: running, last: terminated(1)}]), '1/1 Running 0'],
  ['failed', aPodOf([{state: terminated(1, 'Error')}]), '0/1 Error 0'],
  ['terminated without a reason', aPodOf([{state: terminated(7)}]), '0/1 ExitCode:7 0'],
  ['was killed', aPodOf([{state: terminated(137, undefined, 9)}]), '0/1 Signal:9 0'],
  [
    'has completed',
    aPodOf([{state: terminated(0, 'Completed')}], {status: {phase: 'Succeeded'}}),
    '0/1 Completed 0',
  ],
  [
    'has reasons in several containers, of which the first is shown',
    aPodOf([{state: running}, {state: terminated(1, 'OOMKilled')}, {state: terminated(2, 'Error')}]),
    '1/3 OOMKilled 0',
  ],
  [
    'has a completed and a running container',
    aPodOf([{state: terminated(0, 'Completed')}, {state: running}]),
    '1/2 NotReady 0',
  ],
  [
    'has a completed and a running container, and is ready',
    aPodOf([{state: terminated(0, 'Completed')}, {state: running}], {status: {conditions: [READY]}}),
    '1/2 Running 0',
  ],
  [
    'has a completed and a failed container',
    aPodOf([{state: terminated(0, 'Completed')}, {state: terminated(2, 'Error')}]),
    '0/2 Error 0',
  ],
  [
    'initializes',
    aPodOf([creating], {init: [{state: running}], status: {phase: 'Pending'}}),
    '0/1 Init:0/1 0',
  ],
  [
    'runs its second init container',
    aPodOf([creating], {init: [{state: terminated(0, 'Completed'), ready: true}, {state: running}]}),
    '0/1 Init:1/2 0',
  ],
  [
    'has a crashing init container',
    aPodOf([creating], {init: [{state: waiting('CrashLoopBackOff'), restarts: 2, last: terminated(1)}]}),
    '0/1 Init:CrashLoopBackOff 2 (5m ago)',
  ],
  [
    'has a failed init container',
    aPodOf([creating], {init: [{state: terminated(1, 'Error')}]}),
    '0/1 Init:Error 0',
  ],
  [
    'has a killed init container',
    aPodOf([creating], {init: [{state: terminated(137, undefined, 9)}]}),
    '0/1 Init:Signal:9 0',
  ],
  [
    'has an init container that terminated without a reason',
    aPodOf([creating], {init: [{state: terminated(3)}]}),
    '0/1 Init:ExitCode:3 0',
  ],
  [
    'has completed its init containers',
    aPodOf([creating], {init: [{state: terminated(0, 'Completed'), ready: true}]}),
    '0/1 PodInitializing 0',
  ],
  [
    'does not count restarts of completed init containers',
    aPodOf([{state: running}], {init: [{state: terminated(0), restarts: 4, last: terminated(1)}]}),
    '1/1 Running 0',
  ],
  [
    'counts its sidecar',
    aPodOf([{state: running, restarts: 1}], {
      init: [{state: running, sidecar: true, restarts: 2, last: terminated(1)}],
    }),
    '2/2 Running 3 (5m ago)',
  ],
  [
    'has a sidecar that has not started',
    aPodOf([creating], {init: [{state: waiting('PodInitializing'), sidecar: true}]}),
    '0/2 Init:0/1 0',
  ],
  [
    'has a sidecar that crashes later',
    aPodOf([{state: running}], {
      init: [{state: waiting('CrashLoopBackOff'), sidecar: true}],
      status: {conditions: [INITIALIZED]},
    }),
    '1/2 Init:CrashLoopBackOff 0',
  ],
  ['is being deleted', aPodOf([{state: running}], {metadata: {deletionTimestamp: AT}}), '1/1 Terminating 0'],
  [
    'has completed and is being deleted',
    aPodOf([{state: terminated(0, 'Completed')}], {
      metadata: {deletionTimestamp: AT},
      status: {phase: 'Succeeded'},
    }),
    '0/1 Completed 0',
  ],
  [
    'is on a lost node',
    aPodOf([{state: running}], {metadata: {deletionTimestamp: AT}, status: {reason: 'NodeLost'}}),
    '1/1 Unknown 0',
  ],
  [
    'was evicted',
    aPodOf([], {spec: {containers: [{name: 'a', image: 'i'}]}, status: {phase: 'Failed', reason: 'Evicted'}}),
    '0/1 Evicted 0',
  ],
  [
    'is held back by a scheduling gate',
    aPodOf([], {
      status: {
        phase: 'Pending',
        conditions: [{type: 'PodScheduled', status: 'False', reason: 'SchedulingGated'}],
      },
    }),
    '0/0 SchedulingGated 0',
  ],
];

describe('the row of a pod that', () => {
  test.each(ROWS)('%s', (_, pod, expected) => {
    const {ready, status: state, restarts} = computePodRow(pod, NOW);
    expect(`${ready} ${state} ${restarts}`).toBe(expected);
  });
});

test('the other columns are computed', () => {
  const pod = aPodOf([{state: running}], {
    spec: {nodeName: 'n1', readinessGates: [{conditionType: 'a/b'}, {conditionType: 'c/d'}]},
    status: {podIPs: [{ip: '10.0.0.1'}, {ip: 'fd00::1'}], conditions: [{type: 'a/b', status: 'True'}]},
  });
  expect(computePodRow(pod, NOW)).toMatchObject({
    age: '70m',
    ip: '10.0.0.1',
    node: 'n1',
    nominatedNode: '<none>',
    readinessGates: '1/2',
  });
  expect(computePodRow(aPodOf([]), NOW)).toMatchObject({
    ip: '<none>',
    node: '<none>',
    readinessGates: '<none>',
  });
});
