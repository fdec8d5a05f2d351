import {expect, test} from 'vitest';
import type {Container, RestartPolicy} from '../../../src/api/types/v1-pod.js';
import type {ContainerState, ContainerStatus, PodStatus} from '../../../src/api/types/v1-status.js';
import type {SyncFailure, SyncResult} from '../../../src/kubelet/contract/sync-result.js';
import {evaluateWait, type WaitFor} from '../../../src/kubelet/foreground/evaluate-wait.js';
import {aContainer, aContainerStatus, aPod} from '../../fakes/a-pod.js';

const RUNNING: ContainerState = {running: {}};
const exited = (exitCode: number): ContainerState => ({terminated: {exitCode}});

interface WaitCase {
  readonly phase?: PodStatus['phase'];
  /** Reason and message of a pod that the kubelet terminated. */
  readonly end?: Pick<PodStatus, 'reason' | 'message'>;
  readonly restartPolicy?: RestartPolicy;
  readonly states: Readonly<Record<string, ContainerState>>;
  readonly failures?: readonly SyncFailure[];
  readonly wait?: WaitFor;
  readonly retry?: boolean;
  /** Additional fields of the containers, by name. */
  readonly fields?: Readonly<Record<string, Partial<Container>>>;
  /** States of sidecars, by name. */
  readonly sidecars?: Readonly<Record<string, ContainerState>>;
  /** Readiness gates and the status of their conditions. */
  readonly gates?: Readonly<Record<string, 'True' | 'False' | undefined>>;
  /** States of init containers that run to completion, listed after the sidecars. */
  readonly inits?: Readonly<Record<string, ContainerState>>;
}

function statusesOf(states: Readonly<Record<string, ContainerState>>): readonly ContainerStatus[] {
  return Object.entries(states).map(([name, state]) =>
    aContainerStatus({name, state, ready: state.running !== undefined}),
  );
}

function evaluate({
  phase = 'Running',
  end = {},
  restartPolicy = 'Always',
  states,
  failures = [],
  wait = 'ready',
  retry = false,
  fields = {},
  sidecars = {},
  inits = {},
  gates = {},
}: WaitCase) {
  const status = {
    phase,
    ...end,
    conditions: Object.entries(gates).flatMap(([type, status]) => (status ? [{type, status}] : [])),
    containerStatuses: statusesOf(states),
    initContainerStatuses: statusesOf({...sidecars, ...inits}),
  };
  const pod = aPod({
    restartPolicy,
    readinessGates: Object.keys(gates).map((conditionType) => ({conditionType})),
    containers: Object.keys(states).map((name) => aContainer({name, ...fields[name]})),
    initContainers: [
      ...Object.keys(sidecars).map((name) => aContainer({name, restartPolicy: 'Always'})),
      ...Object.keys(inits).map((name) => aContainer({name})),
    ],
  });
  const results = failures.map((failure): SyncResult => ({action: 'StartContainer', target: 'a', failure}));
  return evaluateWait(pod, {status, results}, {wait, retry});
}

/** Restarts the container only after this exit code. */
function ruleFor(code: number): Partial<Container> {
  const exitCodes = {operator: 'In', values: [code]} as const;
  return {restartPolicy: 'Never', restartPolicyRules: [{action: 'Restart', exitCodes}]};
}

const crash: SyncFailure = {reason: 'CrashLoopBackOff', message: 'back-off'};
const pull: SyncFailure = {reason: 'ErrImagePull', message: 'no registry'};

test.each<[string, WaitCase, object]>([
  ['a pod whose containers are all ready is ready', {states: {a: RUNNING, b: RUNNING}}, {kind: 'ready'}],
  [
    'a pod with ready containers and false readiness gates is gated',
    {states: {a: RUNNING}, gates: {x: undefined, y: 'True', z: 'False'}},
    {kind: 'gated', gates: ['x', 'z']},
  ],
  ['a pod with true readiness gates is ready', {states: {a: RUNNING}, gates: {x: 'True'}}, {kind: 'ready'}],
  [
    'containers that are not ready take precedence over readiness gates',
    {states: {a: {waiting: {}}}, gates: {x: undefined}},
    {kind: 'wait'},
  ],
  [
    'readiness gates are ignored when waiting for completion',
    {states: {a: RUNNING}, gates: {x: undefined}, wait: 'complete'},
    {kind: 'wait'},
  ],
  ['a waiting container is waited for', {states: {a: RUNNING, b: {waiting: {}}}}, {kind: 'wait'}],
  ['a ready pod is not complete', {states: {a: RUNNING}, wait: 'complete'}, {kind: 'wait'}],
  [
    'a succeeded pod is complete with exit code 0, whatever the wait condition',
    {phase: 'Succeeded', states: {a: exited(0)}},
    {kind: 'complete', exitCode: 0},
  ],
  [
    'a failed pod has the exit code of its first failed container',
    {phase: 'Failed', states: {a: exited(0), b: exited(7), c: exited(9)}, wait: 'complete'},
    {kind: 'complete', exitCode: 7, container: 'b'},
  ],
  [
    'a failed pod does not have the exit code of a stopped sidecar',
    {phase: 'Failed', states: {a: exited(0), b: exited(7)}, sidecars: {s: exited(143)}},
    {kind: 'complete', exitCode: 7, container: 'b'},
  ],
  [
    'the exit code of a failed init container takes precedence over containers and sidecars',
    {phase: 'Failed', states: {a: exited(7)}, inits: {i: exited(5)}, sidecars: {s: exited(143)}},
    {kind: 'complete', exitCode: 5, container: 'i'},
  ],
  [
    'a failed pod of which only a sidecar failed has its exit code',
    {phase: 'Failed', states: {a: exited(0)}, sidecars: {s: exited(143)}},
    {kind: 'complete', exitCode: 143, container: 's'},
  ],
  [
    'a pod terminated by the kubelet has failed with a reason even if no container failed',
    {phase: 'Failed', end: {reason: 'Evicted', message: 'too full. '}, states: {a: exited(0)}},
    {kind: 'complete', exitCode: 1, container: undefined, problem: 'Evicted: too full.'},
  ],
  [
    'a reason without a message is reported alone',
    {phase: 'Failed', end: {reason: 'Evicted'}, states: {a: exited(2)}},
    {kind: 'complete', exitCode: 2, container: 'a', problem: 'Evicted'},
  ],
  [
    'a container that failed and is not restarted prevents the pod from becoming ready',
    {restartPolicy: 'Never', states: {a: RUNNING, b: exited(3)}},
    {kind: 'broken', exitCode: 3, container: 'b'},
  ],
  [
    'a container that succeeded and is not restarted counts as ready',
    {restartPolicy: 'OnFailure', states: {a: RUNNING, b: exited(0)}},
    {kind: 'ready'},
  ],
  [
    'a container that is restarted by its own policy is waited for',
    {restartPolicy: 'Never', states: {a: exited(3)}, fields: {a: {restartPolicy: 'OnFailure'}}},
    {kind: 'wait'},
  ],
  [
    'a container that is restarted by a rule is waited for',
    {restartPolicy: 'Never', states: {a: exited(3)}, fields: {a: ruleFor(3)}},
    {kind: 'wait'},
  ],
  [
    'a container that no rule restarts has failed',
    {restartPolicy: 'Always', states: {a: exited(4)}, fields: {a: ruleFor(3)}},
    {kind: 'broken', exitCode: 4, container: 'a'},
  ],
  [
    'a container that succeeded and is restarted is waited for',
    {restartPolicy: 'OnFailure', states: {a: exited(0)}, fields: {a: {restartPolicy: 'Always'}}},
    {kind: 'wait'},
  ],
  [
    'a pod is not ready before every container is ready',
    {states: {a: RUNNING, b: {waiting: {}}, c: RUNNING}},
    {kind: 'wait'},
  ],
  [
    'completed init containers need not be ready',
    {states: {a: RUNNING}, inits: {i: exited(0)}},
    {kind: 'ready'},
  ],
  ['sidecars must be ready', {states: {a: RUNNING}, sidecars: {s: {waiting: {}}}}, {kind: 'wait'}],
  [
    'a pod with ready containers and sidecars is ready',
    {states: {a: RUNNING}, sidecars: {s: RUNNING}},
    {kind: 'ready'},
  ],
  [
    'a failed sidecar is waited for because it is restarted',
    {restartPolicy: 'Never', states: {a: RUNNING}, sidecars: {s: exited(1)}},
    {kind: 'wait'},
  ],
  [
    'a transient failure is waited for',
    {states: {a: {waiting: {}}}, failures: [{...pull, transient: true}]},
    {kind: 'wait'},
  ],
  [
    'a failure ends a sync without a time limit',
    {states: {a: {waiting: {}}}, failures: [pull]},
    {kind: 'failed'},
  ],
  [
    'the first failure that is not transient is reported',
    {states: {a: {waiting: {}}}, failures: [{...crash, transient: true}, pull, crash]},
    {kind: 'failed', result: {failure: pull}},
  ],
  [
    'a pod with running containers is not ready while a sync fails',
    {states: {a: RUNNING}, failures: [crash], retry: true},
    {kind: 'wait'},
  ],
  [
    'a failure is retried with a time limit',
    {states: {a: {waiting: {}}}, failures: [pull], retry: true},
    {kind: 'wait'},
  ],
  ['a crash loop fails a wait for readiness', {states: {a: exited(1)}, failures: [crash]}, {kind: 'failed'}],
  [
    'a crash loop does not fail a wait for completion',
    {restartPolicy: 'OnFailure', states: {a: exited(1)}, failures: [crash], wait: 'complete'},
    {kind: 'wait'},
  ],
  [
    'another failure fails a wait for completion',
    {states: {a: {waiting: {}}}, failures: [pull], wait: 'complete'},
    {kind: 'failed'},
  ],
])('%s', (_, given, expected) => {
  expect(evaluate(given)).toMatchObject(expected);
});

test('a pod that failed by itself has no problem', () => {
  expect(evaluate({phase: 'Failed', states: {a: exited(7)}})).toEqual({
    kind: 'complete',
    exitCode: 7,
    container: 'a',
  });
});
