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
import {aContainer, aPod} from '../../pod-builders.js';

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
}

function aSubject({
  kind = 'liveness',
  probe = {},
  pod = aPod(),
  container = aContainer({[`${kind}Probe`]: probe}),
  startedAtMs = STARTED - 60_000,
}: SubjectFields = {}): ProbeDecisionSubject {
  return {kind, probe, pod, container, kubeletStartedAtMs: startedAtMs, willRestart: (code) => code !== 0};
}

function aSeen(fields: Partial<ContainerStatus> = {}, phase: PodStatus['phase'] = 'Running'): PodStatus {
  const main = {name: 'main', image: 'busybox:1', imageID: '', restartCount: 0, ready: false};
  const status = {...main, containerID: 'containerd://c1', state: running, started: true, ...fields};
  return {phase, containerStatuses: [status]};
}

const begin = (
  subject: SubjectFields,
  status: PodStatus,
  {memory = KNOWN, afterMs = 0}: {readonly memory?: ProbeWorkerState; readonly afterMs?: number} = {},
) => {
  const {next, results} = decideProbe(aSubject(subject), memory, status, STARTED + afterMs);
  return [next, ...results];
};

describe('a round', () => {
  test.each<[string, SubjectFields, PodStatus, string[]]>([
    ['probes a container that has started', {}, aSeen(), ['probe']],
    ['waits for a container of which there is no instance', {}, aSeen({containerID: ''}), ['wait']],
    ['waits for a container of which nothing is known', {}, {phase: 'Pending'}, ['wait']],
    ['is the last one of a pod that has succeeded', {}, aSeen({}, 'Succeeded'), ['end']],
    ['is the last one of a pod that has failed', {}, aSeen({}, 'Failed'), ['end']],
    ['waits for the startup probe', {}, aSeen({started: false}), ['wait']],
    ['of readiness waits for it too', {kind: 'readiness'}, aSeen({started: false}), ['wait']],
    ['of the startup probe probes until then', {kind: 'startup'}, aSeen({started: false}), ['probe']],
    ['of the startup probe waits for another instance from then on', {kind: 'startup'}, aSeen(), ['wait']],
    ['fails a container that waits', {}, aSeen({state: {waiting: {}}}), ['wait', 'Failure']],
    [
      'fails a container that has ended and comes again',
      {},
      aSeen({state: {terminated: {exitCode: 1}}}),
      ['wait', 'Failure'],
    ],
    [
      'is the last one of a container that has ended for good',
      {},
      aSeen({state: {terminated: {exitCode: 0}}}),
      ['end', 'Failure'],
    ],
  ])('%s', (_title, subject, status, expected) => {
    expect(begin(subject, status)).toEqual(expected);
  });

  test.each([
    [4999, 'wait'],
    [5000, 'probe'],
  ])('waits for the initial delay, in whole seconds: after %i ms it is %s', (afterMs, expected) => {
    expect(begin({probe: {initialDelaySeconds: 5}}, aSeen(), {afterMs})).toEqual([expected]);
  });

  test.each<[ProbeKind, string[]]>([
    ['liveness', ['end', 'Success']],
    ['startup', ['end', 'Success']],
    ['readiness', ['probe']],
  ])('of %s in a pod that is being deleted', (kind, expected) => {
    const pod = aPod({}, {deletionTimestamp: '2026-05-01T12:00:00Z'});
    expect(begin({kind, pod}, aSeen({started: true}))).toEqual(expected);
  });
});

describe('a new instance', () => {
  test.each<[ProbeKind, ProbeResult]>([
    ['liveness', 'Success'],
    ['readiness', 'Failure'],
    ['startup', 'Unknown'],
  ])('has the first %s result %s', (kind, initial) => {
    expect(begin({kind}, aSeen(), {memory: INITIAL_WORKER_STATE})[1]).toBe(initial);
  });

  test('ends the wait of a worker on hold', () => {
    const memory = {id: containerId('c0'), onHold: true, lastResult: 'Failure', resultRun: 0} as const;
    expect(begin({}, aSeen(), {memory})).toEqual(['probe', 'Success']);
    expect(begin({}, aSeen(), {memory: {...memory, id}})).toEqual(['wait']);
  });

  test.each<[string, number, string[]]>([
    ['more than 10 s before the kubelet keeps what was known of it', STARTED + 10_001, ['probe']],
    ['10 s before the kubelet begins anew', STARTED + 10_000, ['probe', 'Success']],
  ])('that was there %s', (_title, startedAtMs, expected) => {
    expect(begin({startedAtMs}, aSeen(), {memory: INITIAL_WORKER_STATE})).toEqual(expected);
  });

  test.each<[string, Container, string[]]>([
    ['a sidecar', aContainer({restartPolicy: 'Always'}), ['wait', 'Success']],
    ['a container', aContainer(), ['wait']],
  ])('of %s that had started before the kubelet', (_title, container, expected) => {
    const subject = {kind: 'startup', container, startedAtMs: STARTED + 60_000} as const;
    expect(begin(subject, aSeen(), {memory: INITIAL_WORKER_STATE})).toEqual(expected);
  });
});

describe('results count', () => {
  /** F and S: what probes find in turn; upper case where it counts, a dot where the worker is on hold. */
  const play = (kind: ProbeKind, probe: Probe, found: string): string => {
    let memory = KNOWN;
    const own = aContainer({[`${kind}Probe`]: probe})[`${kind}Probe`] ?? {};
    return Array.from(found)
      .map((letter) => {
        const result = letter === 'f' ? 'Failure' : 'Success';
        const end = recordProbeResult({kind, probe: own}, memory, result);
        memory = end.memory;
        return `${end.counts ? letter.toUpperCase() : letter}${memory.onHold ? '.' : ''}`;
      })
      .join('');
  };

  test.each<[string, ProbeKind, Probe, string, string]>([
    ['failures at their threshold', 'readiness', {failureThreshold: 3}, 'fffff', 'ffFFF'],
    ['successes at theirs', 'readiness', {successThreshold: 2}, 'ssss', 'sSSS'],
    ['those in a row only', 'readiness', {failureThreshold: 2, successThreshold: 2}, 'fsfsffss', 'fsfsfFsS'],
    ['by the defaults', 'readiness', {}, 'sff', 'Sff'],
    ['of liveness until it fails', 'liveness', {failureThreshold: 2}, 'ssff', 'SSfF.'],
    ['of the startup probe once, the success', 'startup', {failureThreshold: 3}, 'ffs', 'ffS.'],
    ['of the startup probe once, the failure', 'startup', {failureThreshold: 2}, 'ff', 'fF.'],
    ['anew after a hold', 'liveness', {failureThreshold: 2}, 'ffff', 'fF.fF.'],
  ])('%s', (...[, kind, probe, found, expected]) => {
    expect(play(kind, probe, found)).toBe(expected);
  });
});

describe('a running instance', () => {
  const probe = {exec: {command: ['true']}};
  const both = {startupProbe: probe, readinessProbe: probe};
  type Results = {startup?: ProbeResult; readiness?: ProbeResult; before?: Readiness};

  test.each<[string, Partial<Container>, Results, string]>([
    ['without probes has started and is ready', {}, {}, 'started ready'],
    ['that is not probed yet', both, {}, ''],
    ['whose startup probe goes on', both, {startup: 'Unknown', readiness: 'Success'}, ''],
    ['whose startup probe has failed', both, {startup: 'Failure'}, ''],
    ['that has started', both, {startup: 'Success', readiness: 'Failure'}, 'started'],
    ['that is ready', both, {startup: 'Success', readiness: 'Success'}, 'started ready'],
    ['that has only to start', {startupProbe: probe}, {startup: 'Success'}, 'started ready'],
    ['that has only to be ready', {readinessProbe: probe}, {}, 'started'],
    ['that was ready before the kubelet came', both, {before: {started: true, ready: true}}, 'started ready'],
    ['that had started before', both, {before: {started: true, ready: false}}, 'started'],
    [
      'that was ready and has failed since',
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
