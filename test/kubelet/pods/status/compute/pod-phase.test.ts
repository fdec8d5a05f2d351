import {expect, test} from 'vitest';
import type {
  Container,
  ContainerRestartPolicy,
  Pod,
  RestartPolicy,
} from '../../../../../src/api/types/v1-pod.js';
import type {ContainerStatus, PodPhase} from '../../../../../src/api/types/v1-status.js';
import {computePodPhase, type PhaseInput} from '../../../../../src/kubelet/pods/status/compute/pod-phase.js';

const RUNNING = {running: {}};
const STARTING = {waiting: {reason: 'ContainerCreating'}};
const exited = (exitCode: number): ContainerStatus['state'] => ({terminated: {exitCode}});

/** How a container is: its state, and its last state when it waits for a restart. */
type Case = readonly [ContainerStatus['state'], ContainerStatus['lastState']?];

const OK: Case = [exited(0)];
const FAILED: Case = [exited(1)];
const RUNS: Case = [RUNNING];
const WAITS: Case = [STARTING];
const BACKS_OFF: Case = [{waiting: {reason: 'CrashLoopBackOff'}}, exited(1)];
const BACKS_OFF_OK: Case = [{waiting: {reason: 'CrashLoopBackOff'}}, exited(0)];
const UNKNOWN: Case = [{}];
const RESET: Case = [
  {waiting: {reason: 'RestartingAllContainers'}},
  {terminated: {exitCode: 137, reason: 'RestartingAllContainers'}},
];

function statuses(prefix: string, cases: readonly Case[]): readonly ContainerStatus[] {
  return cases.map(([state = {}, lastState = {}], index) => ({
    name: `${prefix}${index}`,
    state,
    lastState,
    ready: false,
    started: 'running' in state,
    restartCount: 0,
    image: 'i',
    imageID: '',
  }));
}

function containers(
  prefix: string,
  cases: readonly Case[],
  policy?: ContainerRestartPolicy,
): readonly Container[] {
  return cases.map((_, index) => ({
    name: `${prefix}${index}`,
    image: 'i',
    ...(policy && {restartPolicy: policy}),
  }));
}

interface Situation {
  readonly policy?: RestartPolicy;
  readonly regular: readonly Case[];
  readonly inits?: readonly Case[];
  readonly sidecars?: readonly Case[];
  readonly hasInitialized?: boolean;
  readonly isTerminal?: boolean;
}

function phase(situation: Situation, override: Partial<PhaseInput> = {}): PodPhase {
  const {policy = 'Always', regular, inits = [], sidecars = []} = situation;
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {},
    spec: {
      restartPolicy: policy,
      containers: containers('c', regular),
      initContainers: [...containers('i', inits), ...containers('s', sidecars, 'Always')],
    },
  };
  return computePodPhase({
    pod,
    statuses: statuses('c', regular),
    initStatuses: [...statuses('i', inits), ...statuses('s', sidecars)],
    hasInitialized: situation.hasInitialized ?? false,
    isTerminal: situation.isTerminal ?? false,
    ...override,
  });
}

test.each<[string, Situation, PodPhase]>([
  ['all run', {regular: [RUNS, RUNS]}, 'Running'],
  ['one is being created', {regular: [RUNS, WAITS]}, 'Pending'],
  ['none is known', {regular: [UNKNOWN]}, 'Pending'],
  ['none is there', {regular: []}, 'Pending'],
  ['one runs and one is not known', {regular: [RUNS, UNKNOWN]}, 'Pending'],
  ['one runs and one has ended', {policy: 'Never', regular: [RUNS, FAILED]}, 'Running'],
  ['all ended well, never to be restarted', {policy: 'Never', regular: [OK, OK]}, 'Succeeded'],
  ['one ended badly, never to be restarted', {policy: 'Never', regular: [OK, FAILED]}, 'Failed'],
  ['all ended well under OnFailure', {policy: 'OnFailure', regular: [OK, OK]}, 'Succeeded'],
  ['one ended badly under OnFailure', {policy: 'OnFailure', regular: [OK, FAILED]}, 'Running'],
  ['all ended well under Always', {regular: [OK]}, 'Running'],
  ['one is in its back-off', {regular: [BACKS_OFF]}, 'Running'],
  [
    'one waits that ended well and will not restart',
    {policy: 'OnFailure', regular: [BACKS_OFF_OK]},
    'Failed',
  ],
])('phase when %s', (_title, situation, expected) => {
  expect(phase(situation)).toBe(expected);
});

test.each<[string, Situation, PodPhase]>([
  ['runs', {inits: [RUNS], regular: [WAITS]}, 'Pending'],
  ['has not begun', {inits: [OK, WAITS], regular: [RUNS]}, 'Pending'],
  ['failed and is never restarted', {policy: 'Never', inits: [FAILED], regular: [WAITS]}, 'Failed'],
  ['failed and is restarted', {inits: [FAILED], regular: [WAITS]}, 'Pending'],
  ['is in its back-off', {inits: [BACKS_OFF], regular: [WAITS]}, 'Pending'],
  [
    'is in its back-off after a restart of the sandbox',
    {inits: [BACKS_OFF], regular: [BACKS_OFF]},
    'Running',
  ],
  ['ended well', {inits: [OK], regular: [RUNS]}, 'Running'],
  ['ended well, never to be restarted', {policy: 'Never', inits: [OK], regular: [RUNS]}, 'Running'],
  [
    'was removed so that all containers begin anew',
    {policy: 'Never', inits: [RESET], regular: [RESET]},
    'Running',
  ],
])('phase when an init container %s', (_title, situation, expected) => {
  expect(phase(situation)).toBe(expected);
});

test.each<[string, Situation, PodPhase]>([
  ['runs beside the others', {sidecars: [RUNS], regular: [RUNS]}, 'Running'],
  ['has not begun', {sidecars: [WAITS], regular: [WAITS]}, 'Pending'],
  ['has ended with the others', {policy: 'Never', sidecars: [FAILED], regular: [OK]}, 'Succeeded'],
  ['still runs when the others have ended', {policy: 'Never', sidecars: [RUNS], regular: [OK]}, 'Running'],
  [
    'is restarted beside running ones',
    {sidecars: [BACKS_OFF], regular: [RUNS], hasInitialized: true},
    'Running',
  ],
])('phase when a sidecar %s', (_title, situation, expected) => {
  expect(phase(situation)).toBe(expected);
});

test('a sidecar that runs but has not started holds the pod back until a regular container exists', () => {
  const situation = {sidecars: [RUNS], regular: [RUNS]};
  const initStatuses = statuses('s', [RUNS]).map((status) => ({...status, started: false}));
  expect(phase(situation, {initStatuses})).toBe('Pending');
  expect(phase(situation, {initStatuses, hasInitialized: true})).toBe('Running');
});

test.each<[string, Situation, PodPhase]>([
  ['all ended well', {regular: [OK], isTerminal: true}, 'Succeeded'],
  ['one ended badly', {regular: [OK, FAILED], isTerminal: true}, 'Failed'],
  ['one still runs', {regular: [OK, RUNS], isTerminal: true}, 'Running'],
])('phase of a pod that was stopped for good when %s', (_title, situation, expected) => {
  expect(phase(situation)).toBe(expected);
});

test('a container without a status is not known', () => {
  expect(phase({regular: [RUNS, RUNS]}, {statuses: statuses('c', [RUNS])})).toBe('Pending');
});
