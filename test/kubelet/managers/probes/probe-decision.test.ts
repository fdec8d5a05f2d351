import {describe, expect, test} from 'vitest';
import type {Container, Pod, Probe} from '../../../../src/api/types/v1-pod.js';
import type {ContainerStatus, PodStatus} from '../../../../src/api/types/v1-status.js';
import {containerId} from '../../../../src/cri/index.js';
import type {ProbeKind, ProbeResult, Readiness} from '../../../../src/kubelet/contract/probe-results.js';
import {
  decideProbe,
  recordProbeResult,
  INITIAL_WORKER_STATE,
  computeReadiness,
  type ProbeWorkerState,
  type ProbeDecisionSubject,
} from '../../../../src/kubelet/managers/probes/probe-decision.js';
import {aContainer, aContainerStatus, aPod} from '../../../fakes/a-pod.js';

const STARTED = Date.parse('2026-05-01T12:00:00Z');
const id = containerId('c1');
const running = {running: {startedAt: '2026-05-01T12:00:00Z'}};
const KNOWN: ProbeWorkerState = {...INITIAL_WORKER_STATE, id};

interface SubjectFields {
  readonly kind?: ProbeKind;
  readonly probe?: Probe;
  readonly pod?: Pod;
  readonly container?: Container;
  readonly startedAtMs?: number;
  readonly restartGraceMs?: number;
}

function aSubject({
  kind = 'liveness',
  probe = {},
  pod = aPod(),
  container = aContainer({[`${kind}Probe`]: probe}),
  startedAtMs = STARTED - 60_000,
  restartGraceMs = 10_000,
}: SubjectFields = {}): ProbeDecisionSubject {
  const facts = {kubeletStartedAtMs: startedAtMs, restartGraceMs};
  return {kind, probe, pod, container, ...facts, willRestart: (code) => code !== 0};
}

function aPodStatus(fields: Partial<ContainerStatus> = {}, phase: PodStatus['phase'] = 'Running'): PodStatus {
  const started = {containerID: 'containerd://c1', state: running, started: true};
  return {phase, containerStatuses: [aContainerStatus({...started, ...fields})]};
}

const decide = (
  subject: SubjectFields,
  status: PodStatus,
  {memory = KNOWN, afterMs = 0}: {readonly memory?: ProbeWorkerState; readonly afterMs?: number} = {},
) => {
  const {next, results} = decideProbe(aSubject(subject), memory, status, STARTED + afterMs);
  return [next, ...results];
};

describe('a probe worker', () => {
  test.each<[string, SubjectFields, PodStatus, string[]]>([
    ['probes a container that has started', {}, aPodStatus(), ['probe']],
    ['waits for a container without an instance', {}, aPodStatus({containerID: ''}), ['wait']],
    ['waits for a container without a status', {}, {phase: 'Pending'}, ['wait']],
    ['ends for a pod that has succeeded', {}, aPodStatus({}, 'Succeeded'), ['end']],
    ['ends for a pod that has failed', {}, aPodStatus({}, 'Failed'), ['end']],
    ['waits for the startup probe', {}, aPodStatus({started: false}), ['wait']],
    [
      'for readiness waits for the startup probe',
      {kind: 'readiness'},
      aPodStatus({started: false}),
      ['wait'],
    ],
    [
      'for startup probes until the container has started',
      {kind: 'startup'},
      aPodStatus({started: false}),
      ['probe'],
    ],
    [
      'for startup waits for another instance after the container has started',
      {kind: 'startup'},
      aPodStatus(),
      ['wait'],
    ],
    [
      'reports a failure for a waiting container',
      {},
      aPodStatus({state: {waiting: {}}}),
      ['wait', 'Failure'],
    ],
    [
      'reports a failure for an exited container that will be restarted',
      {},
      aPodStatus({state: {terminated: {exitCode: 1}}}),
      ['wait', 'Failure'],
    ],
    [
      'ends for an exited container that will not be restarted',
      {},
      aPodStatus({state: {terminated: {exitCode: 0}}}),
      ['end', 'Failure'],
    ],
  ])('%s', (_title, subject, status, expected) => {
    expect(decide(subject, status)).toEqual(expected);
  });

  test.each([
    [4999, 'wait'],
    [5000, 'probe'],
  ])('waits for the initial delay in whole seconds: after %i ms it decides to %s', (afterMs, expected) => {
    expect(decide({probe: {initialDelaySeconds: 5}}, aPodStatus(), {afterMs})).toEqual([expected]);
  });

  test.each<[ProbeKind, string[]]>([
    ['liveness', ['end', 'Success']],
    ['startup', ['end', 'Success']],
    ['readiness', ['probe']],
  ])('for %s in a pod that is being deleted', (kind, expected) => {
    const pod = aPod({}, {deletionTimestamp: '2026-05-01T12:00:00Z'});
    expect(decide({kind, pod}, aPodStatus({started: true}))).toEqual(expected);
  });
});

describe('a new instance', () => {
  test.each<[ProbeKind, ProbeResult]>([
    ['liveness', 'Success'],
    ['readiness', 'Failure'],
    ['startup', 'Unknown'],
  ])('has the initial %s result %s', (kind, initial) => {
    expect(decide({kind}, aPodStatus(), {memory: INITIAL_WORKER_STATE})[1]).toBe(initial);
  });

  test('releases a worker that is on hold', () => {
    const memory = {id: containerId('c0'), onHold: true, lastResult: 'Failure', resultRun: 0} as const;
    expect(decide({}, aPodStatus(), {memory})).toEqual(['probe', 'Success']);
    expect(decide({}, aPodStatus(), {memory: {...memory, id}})).toEqual(['wait']);
  });

  test.each<[string, number, string[]]>([
    ['more than 10 s before the kubelet keeps its previous state', STARTED + 10_001, ['probe']],
    ['10 s before the kubelet starts with the initial result', STARTED + 10_000, ['probe', 'Success']],
  ])('that started %s', (_title, startedAtMs, expected) => {
    expect(decide({startedAtMs}, aPodStatus(), {memory: INITIAL_WORKER_STATE})).toEqual(expected);
  });

  test('that started before a kcri sync keeps its previous state, however young it is', () => {
    const initial = {memory: INITIAL_WORKER_STATE};
    const subject = {kind: 'readiness', restartGraceMs: 0} as const;
    expect(decide({...subject, startedAtMs: STARTED + 1}, aPodStatus(), initial)).toEqual(['probe']);
    const own = decide({...subject, startedAtMs: STARTED}, aPodStatus(), initial);
    expect(own).toEqual(['probe', 'Failure']);
  });

  test.each<[string, Container, string[]]>([
    ['a sidecar', aContainer({restartPolicy: 'Always'}), ['wait', 'Success']],
    ['a container', aContainer(), ['wait']],
  ])('of %s that started before the kubelet', (_title, container, expected) => {
    const subject = {kind: 'startup', container, startedAtMs: STARTED + 60_000} as const;
    expect(decide(subject, aPodStatus(), {memory: INITIAL_WORKER_STATE})).toEqual(expected);
  });
});

describe('probe results', () => {
  /**
   * Plays probe results, f or s; upper case if the result counts, followed by a dot if the worker is on hold.
   */
  const playResults = (kind: ProbeKind, probe: Probe, letters: string): string => {
    let memory = KNOWN;
    const fullProbe = aContainer({[`${kind}Probe`]: probe})[`${kind}Probe`] ?? {};
    return Array.from(letters)
      .map((letter) => {
        const result = letter === 'f' ? 'Failure' : 'Success';
        const end = recordProbeResult({kind, probe: fullProbe}, memory, result);
        memory = end.memory;
        return `${end.counts ? letter.toUpperCase() : letter}${memory.onHold ? '.' : ''}`;
      })
      .join('');
  };

  // Proves: Probe.failureThreshold, Probe.successThreshold
  test.each<[string, ProbeKind, Probe, string, string]>([
    ['count at the failure threshold', 'readiness', {failureThreshold: 3}, 'fffff', 'ffFFF'],
    ['count at the success threshold', 'readiness', {successThreshold: 2}, 'ssss', 'sSSS'],
    ['count only in a row', 'readiness', {failureThreshold: 2, successThreshold: 2}, 'fsfsffss', 'fsfsfFsS'],
    ['count with the default thresholds', 'readiness', {}, 'sff', 'Sff'],
    ['count for liveness until a failure', 'liveness', {failureThreshold: 2}, 'ssff', 'SSfF.'],
    ['count once for a successful startup probe', 'startup', {failureThreshold: 3}, 'ffs', 'ffS.'],
    ['count once for a failed startup probe', 'startup', {failureThreshold: 2}, 'ff', 'fF.'],
    ['are counted from the start after a hold', 'liveness', {failureThreshold: 2}, 'ffff', 'fF.fF.'],
  ])('%s', (...[, kind, probe, letters, expected]) => {
    expect(playResults(kind, probe, letters)).toBe(expected);
  });
});

describe('a running instance', () => {
  const probe = {exec: {command: ['true']}};
  const both = {startupProbe: probe, readinessProbe: probe};
  type Results = {startup?: ProbeResult; readiness?: ProbeResult; before?: Readiness};

  test.each<[string, Partial<Container>, Results, string]>([
    ['without probes has started and is ready', {}, {}, 'started ready'],
    ['that has not been probed has not started', both, {}, ''],
    [
      'whose startup probe has no result has not started',
      both,
      {startup: 'Unknown', readiness: 'Success'},
      '',
    ],
    ['whose startup probe has failed has not started', both, {startup: 'Failure'}, ''],
    [
      'whose startup probe has succeeded has started',
      both,
      {startup: 'Success', readiness: 'Failure'},
      'started',
    ],
    [
      'whose probes have succeeded is ready',
      both,
      {startup: 'Success', readiness: 'Success'},
      'started ready',
    ],
    [
      'with only a startup probe is ready when started',
      {startupProbe: probe},
      {startup: 'Success'},
      'started ready',
    ],
    ['with only a readiness probe has started', {readinessProbe: probe}, {}, 'started'],
    [
      'that was ready before the kubelet started is ready',
      both,
      {before: {started: true, ready: true}},
      'started ready',
    ],
    [
      'that had started before the kubelet started has started',
      both,
      {before: {started: true, ready: false}},
      'started',
    ],
    [
      'that was ready before the kubelet started and has failed since is not ready',
      both,
      {before: {started: true, ready: true}, readiness: 'Failure'},
      'started',
    ],
  ])('%s', (_title, fields, {before, startup, readiness}, expected) => {
    const {started, ready} = computeReadiness(
      {container: aContainer(fields), id, before},
      {startup, readiness},
    );
    expect(`${started ? 'started' : ''}${ready ? ' ready' : ''}`).toBe(expected);
  });
});
