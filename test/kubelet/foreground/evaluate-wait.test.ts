import {expect, test} from 'vitest';
import type {Container, Pod, RestartPolicy} from '../../../src/api/types/v1-pod.js';
import type {ContainerState, ContainerStatus, PodStatus} from '../../../src/api/types/v1-status.js';
import type {SyncFailure, SyncResult} from '../../../src/kubelet/contract/sync-result.js';
import {evaluateWait, type WaitFor} from '../../../src/kubelet/foreground/evaluate-wait.js';

const RUNNING: ContainerState = {running: {}};
const exited = (exitCode: number): ContainerState => ({terminated: {exitCode}});

function aContainerStatus(name: string, state: ContainerState): ContainerStatus {
  return {name, state, ready: state.running !== undefined, restartCount: 0, image: '', imageID: ''};
}

interface Case {
  readonly phase?: PodStatus['phase'];
  /** Why a kubelet has ended the pod. */
  readonly end?: Pick<PodStatus, 'reason' | 'message'>;
  readonly restartPolicy?: RestartPolicy;
  readonly states: Readonly<Record<string, ContainerState>>;
  readonly failures?: readonly SyncFailure[];
  readonly wait?: WaitFor;
  readonly retry?: boolean;
  /** Fields of the containers by their names. */
  readonly fields?: Readonly<Record<string, Partial<Container>>>;
  /** Sidecars beside the containers. */
  readonly sidecars?: Readonly<Record<string, ContainerState>>;
  /** Readiness gates, and how their conditions are. */
  readonly gates?: Readonly<Record<string, 'True' | 'False' | undefined>>;
  /** Init containers that end, behind the sidecars. */
  readonly inits?: Readonly<Record<string, ContainerState>>;
}

function statusesOf(states: Readonly<Record<string, ContainerState>>): readonly ContainerStatus[] {
  return Object.entries(states).map(([name, state]) => aContainerStatus(name, state));
}

function verdict({
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
}: Case) {
  const status = {
    phase,
    ...end,
    conditions: Object.entries(gates).flatMap(([type, status]) => (status ? [{type, status}] : [])),
    containerStatuses: statusesOf(states),
    initContainerStatuses: statusesOf({...sidecars, ...inits}),
  };
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name: 'p', namespace: 'default', uid: 'u1'},
    spec: {
      restartPolicy,
      readinessGates: Object.keys(gates).map((conditionType) => ({conditionType})),
      containers: Object.keys(states).map((name) => ({name, image: 'x', ...fields[name]})),
      initContainers: [
        ...Object.keys(sidecars).map((name) => ({name, image: 'x', restartPolicy: 'Always' as const})),
        ...Object.keys(inits).map((name) => ({name, image: 'x'})),
      ],
    },
  };
  const results = failures.map((failure): SyncResult => ({action: 'StartContainer', target: 'a', failure}));
  return evaluateWait(pod, {status, results}, {wait, retry});
}

/** Never restarted but after that exit code. */
function ruleFor(code: number): Partial<Container> {
  const exitCodes = {operator: 'In', values: [code]} as const;
  return {restartPolicy: 'Never', restartPolicyRules: [{action: 'Restart', exitCodes}]};
}

const crash: SyncFailure = {reason: 'CrashLoopBackOff', message: 'back-off'};
const pull: SyncFailure = {reason: 'ErrImagePull', message: 'no registry'};

test.each<[string, Case, object]>([
  ['every container ready is ready', {states: {a: RUNNING, b: RUNNING}}, {kind: 'ready'}],
  [
    'a pod whose gates are closed never becomes ready, whatever its containers are',
    {states: {a: RUNNING}, gates: {x: undefined, y: 'True', z: 'False'}},
    {kind: 'gated', gates: ['x', 'z']},
  ],
  ['a pod whose gates are open is ready', {states: {a: RUNNING}, gates: {x: 'True'}}, {kind: 'ready'}],
  ['its containers come first', {states: {a: {waiting: {}}}, gates: {x: undefined}}, {kind: 'wait'}],
  [
    'gates are nothing to who waits for the end',
    {states: {a: RUNNING}, gates: {x: undefined}, wait: 'complete'},
    {kind: 'wait'},
  ],
  ['one that is still waiting is waited for', {states: {a: RUNNING, b: {waiting: {}}}}, {kind: 'wait'}],
  ['complete does not end with ready', {states: {a: RUNNING}, wait: 'complete'}, {kind: 'wait'}],
  [
    'a succeeded pod is complete with 0, whatever was waited for',
    {phase: 'Succeeded', states: {a: exited(0)}},
    {kind: 'complete', exitCode: 0},
  ],
  [
    'a failed pod has the exit code of its first failed container',
    {phase: 'Failed', states: {a: exited(0), b: exited(7), c: exited(9)}, wait: 'complete'},
    {kind: 'complete', exitCode: 7, container: 'b'},
  ],
  [
    'a failed pod does not have the exit code of a sidecar that was stopped with it',
    {phase: 'Failed', states: {a: exited(0), b: exited(7)}, sidecars: {s: exited(143)}},
    {kind: 'complete', exitCode: 7, container: 'b'},
  ],
  [
    'a failed init container comes before the containers and sidecars',
    {phase: 'Failed', states: {a: exited(7)}, inits: {i: exited(5)}, sidecars: {s: exited(143)}},
    {kind: 'complete', exitCode: 5, container: 'i'},
  ],
  [
    'a failed pod of which only a sidecar failed has its exit code',
    {phase: 'Failed', states: {a: exited(0)}, sidecars: {s: exited(143)}},
    {kind: 'complete', exitCode: 143, container: 's'},
  ],
  [
    'a pod that a kubelet ended says why, and has failed though none of its containers has',
    {phase: 'Failed', end: {reason: 'Evicted', message: 'too full. '}, states: {a: exited(0)}},
    {kind: 'complete', exitCode: 1, container: undefined, problem: 'Evicted: too full.'},
  ],
  [
    'a reason without a message is told alone',
    {phase: 'Failed', end: {reason: 'Evicted'}, states: {a: exited(2)}},
    {kind: 'complete', exitCode: 2, container: 'a', problem: 'Evicted'},
  ],
  [
    'a container that failed for good keeps a pod from becoming ready',
    {restartPolicy: 'Never', states: {a: RUNNING, b: exited(3)}},
    {kind: 'broken', exitCode: 3, container: 'b'},
  ],
  [
    'a container that ended well and is not restarted is settled',
    {restartPolicy: 'OnFailure', states: {a: RUNNING, b: exited(0)}},
    {kind: 'ready'},
  ],
  [
    'a container that its own policy restarts is waited for, whatever its pod says',
    {restartPolicy: 'Never', states: {a: exited(3)}, fields: {a: {restartPolicy: 'OnFailure'}}},
    {kind: 'wait'},
  ],
  [
    'a container that a rule restarts is waited for',
    {restartPolicy: 'Never', states: {a: exited(3)}, fields: {a: ruleFor(3)}},
    {kind: 'wait'},
  ],
  [
    'a container that no rule restarts has failed for good',
    {restartPolicy: 'Always', states: {a: exited(4)}, fields: {a: ruleFor(3)}},
    {kind: 'broken', exitCode: 4, container: 'a'},
  ],
  [
    'a container that ended well and comes again is not settled',
    {restartPolicy: 'OnFailure', states: {a: exited(0)}, fields: {a: {restartPolicy: 'Always'}}},
    {kind: 'wait'},
  ],
  [
    'each container has to be ready itself',
    {states: {a: RUNNING, b: {waiting: {}}, c: RUNNING}},
    {kind: 'wait'},
  ],
  [
    'init containers that have ended need not be ready',
    {states: {a: RUNNING}, inits: {i: exited(0)}},
    {kind: 'ready'},
  ],
  ['sidecars have to be ready too', {states: {a: RUNNING}, sidecars: {s: {waiting: {}}}}, {kind: 'wait'}],
  ['with its sidecars a pod is ready', {states: {a: RUNNING}, sidecars: {s: RUNNING}}, {kind: 'ready'}],
  [
    'a sidecar that failed is waited for, as it comes again',
    {restartPolicy: 'Never', states: {a: RUNNING}, sidecars: {s: exited(1)}},
    {kind: 'wait'},
  ],
  [
    'what was not tried because of a limit is waited for',
    {states: {a: {waiting: {}}}, failures: [{...pull, transient: true}]},
    {kind: 'wait'},
  ],
  ['a failure ends a sync without a limit', {states: {a: {waiting: {}}}, failures: [pull]}, {kind: 'failed'}],
  [
    'the first failure that counts is told',
    {states: {a: {waiting: {}}}, failures: [{...crash, transient: true}, pull, crash]},
    {kind: 'failed', result: {failure: pull}},
  ],
  [
    'what runs is not ready while something fails',
    {states: {a: RUNNING}, failures: [crash], retry: true},
    {kind: 'wait'},
  ],
  [
    'a failure is retried when there is a limit',
    {states: {a: {waiting: {}}}, failures: [pull], retry: true},
    {kind: 'wait'},
  ],
  ['a crash loop ends waiting for ready', {states: {a: exited(1)}, failures: [crash]}, {kind: 'failed'}],
  [
    'a crash loop is part of running to completion',
    {restartPolicy: 'OnFailure', states: {a: exited(1)}, failures: [crash], wait: 'complete'},
    {kind: 'wait'},
  ],
  [
    'another failure ends waiting for completion too',
    {states: {a: {waiting: {}}}, failures: [pull], wait: 'complete'},
    {kind: 'failed'},
  ],
])('%s', (_, given, expected) => {
  expect(verdict(given)).toMatchObject(expected);
});

test('a pod that ended by itself names no problem', () => {
  expect(verdict({phase: 'Failed', states: {a: exited(7)}})).toEqual({
    kind: 'complete',
    exitCode: 7,
    container: 'a',
  });
});
