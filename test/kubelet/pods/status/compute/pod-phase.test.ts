import {expect, test} from 'vitest';
import type {Container, ContainerRestartPolicy, RestartPolicy} from '../../../../../src/api/types/v1-pod.js';
import type {ContainerStatus, PodPhase} from '../../../../../src/api/types/v1-status.js';
import {computePodPhase, type PhaseInput} from '../../../../../src/kubelet/pods/status/compute/pod-phase.js';
import {aContainer, aContainerStatus, aPod} from '../../../../fakes/a-pod.js';

const RUNNING = {running: {}};
const STARTING = {waiting: {reason: 'ContainerCreating'}};
const exited = (exitCode: number): ContainerStatus['state'] => ({terminated: {exitCode}});

/** A container's state, and its last state when it waits for a restart. */
type ContainerCase = readonly [ContainerStatus['state'], ContainerStatus['lastState']?];

const OK: ContainerCase = [exited(0)];
const FAILED: ContainerCase = [exited(1)];
const RUNS: ContainerCase = [RUNNING];
const WAITS: ContainerCase = [STARTING];
const BACKS_OFF: ContainerCase = [{waiting: {reason: 'CrashLoopBackOff'}}, exited(1)];
const BACKS_OFF_OK: ContainerCase = [{waiting: {reason: 'CrashLoopBackOff'}}, exited(0)];
const UNKNOWN: ContainerCase = [{}];
const RESET: ContainerCase = [
  {waiting: {reason: 'RestartingAllContainers'}},
  {terminated: {exitCode: 137, reason: 'RestartingAllContainers'}},
];

function statuses(prefix: string, cases: readonly ContainerCase[]): readonly ContainerStatus[] {
  return cases.map(([state = {}, lastState = {}], index) =>
    aContainerStatus({name: `${prefix}${index}`, state, lastState, started: 'running' in state}),
  );
}

function containers(
  prefix: string,
  cases: readonly ContainerCase[],
  policy?: ContainerRestartPolicy,
): readonly Container[] {
  return cases.map((_, index) =>
    aContainer({name: `${prefix}${index}`, ...(policy && {restartPolicy: policy})}),
  );
}

interface PhaseCase {
  readonly policy?: RestartPolicy;
  readonly regular: readonly ContainerCase[];
  readonly inits?: readonly ContainerCase[];
  readonly sidecars?: readonly ContainerCase[];
  readonly hasInitialized?: boolean;
  readonly isTerminal?: boolean;
}

function phase(phaseCase: PhaseCase, override: Partial<PhaseInput> = {}): PodPhase {
  const {policy = 'Always', regular, inits = [], sidecars = []} = phaseCase;
  const pod = aPod({
    restartPolicy: policy,
    containers: containers('c', regular),
    initContainers: [...containers('i', inits), ...containers('s', sidecars, 'Always')],
  });
  return computePodPhase({
    pod,
    statuses: statuses('c', regular),
    initStatuses: [...statuses('i', inits), ...statuses('s', sidecars)],
    hasInitialized: phaseCase.hasInitialized ?? false,
    isTerminal: phaseCase.isTerminal ?? false,
    ...override,
  });
}

test.each<[string, PhaseCase, PodPhase]>([
  ['all are running', {regular: [RUNS, RUNS]}, 'Running'],
  ['one is being created', {regular: [RUNS, WAITS]}, 'Pending'],
  ['none has a known state', {regular: [UNKNOWN]}, 'Pending'],
  ['there are none', {regular: []}, 'Pending'],
  ['one is running and one has no known state', {regular: [RUNS, UNKNOWN]}, 'Pending'],
  ['one is running and one has exited', {policy: 'Never', regular: [RUNS, FAILED]}, 'Running'],
  ['all have succeeded under Never', {policy: 'Never', regular: [OK, OK]}, 'Succeeded'],
  ['one has failed under Never', {policy: 'Never', regular: [OK, FAILED]}, 'Failed'],
  ['all have succeeded under OnFailure', {policy: 'OnFailure', regular: [OK, OK]}, 'Succeeded'],
  ['one has failed under OnFailure', {policy: 'OnFailure', regular: [OK, FAILED]}, 'Running'],
  ['all have succeeded under Always', {regular: [OK]}, 'Running'],
  ['one is in back-off', {regular: [BACKS_OFF]}, 'Running'],
  [
    'one waits although it has succeeded under OnFailure',
    {policy: 'OnFailure', regular: [BACKS_OFF_OK]},
    'Failed',
  ],
])('phase when %s', (_title, phaseCase, expected) => {
  expect(phase(phaseCase)).toBe(expected);
});

test.each<[string, PhaseCase, PodPhase]>([
  ['runs', {inits: [RUNS], regular: [WAITS]}, 'Pending'],
  ['has not started', {inits: [OK, WAITS], regular: [RUNS]}, 'Pending'],
  ['failed under Never', {policy: 'Never', inits: [FAILED], regular: [WAITS]}, 'Failed'],
  ['failed under Always', {inits: [FAILED], regular: [WAITS]}, 'Pending'],
  ['is in back-off', {inits: [BACKS_OFF], regular: [WAITS]}, 'Pending'],
  ['is in back-off after a restart of the sandbox', {inits: [BACKS_OFF], regular: [BACKS_OFF]}, 'Running'],
  ['has succeeded', {inits: [OK], regular: [RUNS]}, 'Running'],
  ['has succeeded under Never', {policy: 'Never', inits: [OK], regular: [RUNS]}, 'Running'],
  [
    'was removed for a restart of all containers',
    {policy: 'Never', inits: [RESET], regular: [RESET]},
    'Running',
  ],
])('phase when an init container %s', (_title, phaseCase, expected) => {
  expect(phase(phaseCase)).toBe(expected);
});

test.each<[string, PhaseCase, PodPhase]>([
  ['runs beside running containers', {sidecars: [RUNS], regular: [RUNS]}, 'Running'],
  ['has not started', {sidecars: [WAITS], regular: [WAITS]}, 'Pending'],
  [
    'has exited as well as the regular containers',
    {policy: 'Never', sidecars: [FAILED], regular: [OK]},
    'Succeeded',
  ],
  [
    'is still running after the regular containers exited',
    {policy: 'Never', sidecars: [RUNS], regular: [OK]},
    'Running',
  ],
  [
    'is in back-off beside running containers',
    {sidecars: [BACKS_OFF], regular: [RUNS], hasInitialized: true},
    'Running',
  ],
])('phase when a sidecar %s', (_title, phaseCase, expected) => {
  expect(phase(phaseCase)).toBe(expected);
});

test('a sidecar that is running but has not started keeps the pod Pending until it is initialized', () => {
  const phaseCase = {sidecars: [RUNS], regular: [RUNS]};
  const initStatuses = statuses('s', [RUNS]).map((status) => ({...status, started: false}));
  expect(phase(phaseCase, {initStatuses})).toBe('Pending');
  expect(phase(phaseCase, {initStatuses, hasInitialized: true})).toBe('Running');
});

test.each<[string, PhaseCase, PodPhase]>([
  ['all have succeeded', {regular: [OK], isTerminal: true}, 'Succeeded'],
  ['one has failed', {regular: [OK, FAILED], isTerminal: true}, 'Failed'],
  ['one is still running', {regular: [OK, RUNS], isTerminal: true}, 'Running'],
])('phase of a terminated pod when %s', (_title, phaseCase, expected) => {
  expect(phase(phaseCase)).toBe(expected);
});

test('a container without a status counts as unknown', () => {
  expect(phase({regular: [RUNS, RUNS]}, {statuses: statuses('c', [RUNS])})).toBe('Pending');
});
