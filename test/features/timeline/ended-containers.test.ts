import {expect, test} from 'vitest';
import {computeTimeline} from '../../../src/features/timeline/compute-timeline.js';
import type {ContainerTimes, PodFacts} from '../../../src/features/timeline/pod-facts.js';
import {summaryLines} from '../../../src/features/timeline/summary.js';
import {phasesOf, someFacts, T0} from './some-facts.js';

const PROBE = {exec: {command: ['true']}};
const {pod: POD} = someFacts();

/** Steps until the container is started, at the second 3. */
const START: PodFacts['steps'] = [
  {step: 'Admitted', at: T0 + 300},
  {step: 'RunPodSandbox', at: T0 + 600, ms: 1400},
  {step: 'StartContainer', at: T0 + 2900, ms: 100, container: 'main', containerId: 'c1'},
];
const READY: PodFacts['steps'] = [
  {step: 'Started', at: T0 + 3500, container: 'main'},
  {step: 'Ready', at: T0 + 3500, container: 'main'},
  {step: 'PodReady', at: T0 + 3500},
];

/** An instance that started at the second 3, and ended at another one, if any. */
function anInstance(second?: number, more: Partial<ContainerTimes> = {}): ContainerTimes {
  const ended = second === undefined ? {} : {finishedMs: T0 + second * 1000, exitCode: 1};
  return {id: 'c1', name: 'main', createdMs: T0 + 2800, startedMs: T0 + 3000, ...ended, ...more};
}

/** Facts about a pod that is not Ready. */
function notReady(changes: Partial<PodFacts>, spec: Partial<PodFacts['pod']['spec']> = {}): PodFacts {
  const status = {...POD.status, conditions: []};
  return someFacts({pod: {...POD, status, spec: {...POD.spec, ...spec}}, manager: 'kcri', ...changes});
}

const withProbes = (probes: object) => ({containers: [{name: 'main', image: 'nginx', ...probes}]});
const probePhasesOf = (facts: PodFacts): readonly string[] =>
  phasesOf(facts).filter((line) => /^(startup|readiness)/.test(line));

test('a status that is older than the end of the container makes no pod Ready, and no phase', () => {
  const facts = notReady({steps: [...START, ...READY], containers: [anInstance(3.2)]});
  expect(computeTimeline(facts)).not.toHaveProperty('readyMs');
  expect(summaryLines(computeTimeline(facts), new Map())[0]).toBe('slowest: sandbox 1.4s');
  expect(probePhasesOf(facts)).toEqual([]);
});

test('a pod that was Ready until its container ended says how long', () => {
  const facts = notReady({steps: [...START, ...READY], containers: [anInstance(5)]});
  const timeline = computeTimeline(facts);
  expect(timeline).toMatchObject({readyMs: T0 + 3500, readyUntilMs: T0 + 5000});
  expect(summaryLines(timeline, new Map())[0]).toBe('Ready after 3.3s, for 1.5s');
  // The runtime has removed the first instance.
  const steps = [...START, ...READY, {step: 'NotReady', at: T0 + 5100, container: 'main'} as const];
  expect(computeTimeline(notReady({steps, containers: []}))).toMatchObject({readyUntilMs: T0 + 5100});
});

test('a pod that was Ready only after a restart is so from then on', () => {
  const second = {id: 'c2', name: 'main', createdMs: T0 + 9000, startedMs: T0 + 9100};
  const steps: PodFacts['steps'] = [
    ...[...START, ...READY, {step: 'NotReady', at: T0 + 3700, container: 'main'} as const],
    {step: 'StartContainer', at: T0 + 9050, ms: 50, container: 'main', containerId: 'c2'},
    {step: 'Started', at: T0 + 9200, container: 'main'},
    {step: 'Ready', at: T0 + 9200, container: 'main'},
    {step: 'PodReady', at: T0 + 9200},
  ];
  const facts = notReady({steps, containers: [anInstance(3.2), second]});
  expect(computeTimeline(facts)).toMatchObject({readyMs: T0 + 9200});
  expect(computeTimeline(facts)).not.toHaveProperty('readyUntilMs');
  expect(probePhasesOf(facts)).toEqual(['startup main 9.1-9.2 kubelet', 'readiness main 9.2-9.2 kubelet']);
});

test('a kubelet that did not see the start of a pod does not know when it was Ready first', () => {
  const steps: PodFacts['steps'] = [{step: 'PodReady', at: T0 + 3_600_000}];
  expect(computeTimeline(notReady({steps}))).not.toHaveProperty('readyMs');
});

interface Probed {
  readonly probes: object;
  readonly steps: PodFacts['steps'];
  /** Second at which the container ended. */
  readonly ended?: number;
}

const STARTED: PodFacts['steps'] = [...START, {step: 'Started', at: T0 + 3500, container: 'main'}];

test.each<readonly [string, Probed, readonly string[]]>([
  [
    'its startup probe',
    {probes: {startupProbe: PROBE}, steps: START, ended: 8},
    ['startup main 3-8 kubelet'],
  ],
  ['its startup probe yet', {probes: {startupProbe: PROBE}, steps: START}, ['startup main 3-… kubelet']],
  [
    'its readiness probe',
    {probes: {readinessProbe: PROBE}, steps: STARTED, ended: 8},
    ['startup main 3-3.5 kubelet', 'readiness main 3.5-8 kubelet'],
  ],
  [
    'its readiness probe yet',
    {probes: {startupProbe: PROBE, readinessProbe: PROBE}, steps: STARTED},
    ['startup main 3-3.5 kubelet', 'readiness main 3.5-… kubelet'],
  ],
  ['nothing, as it has no probe', {probes: {}, steps: START, ended: 8}, []],
])('a container that does not pass %s', (_title, {probes, steps, ended}, expected) => {
  const facts = notReady({steps, containers: [anInstance(ended)]}, withProbes(probes));
  expect(probePhasesOf(facts)).toEqual(expected);
  const failed = computeTimeline(facts).phases.filter(({name, isFailed}) => name !== 'running' && isFailed);
  expect(failed).toHaveLength(expected.some((line) => line.includes('-8 ')) ? 1 : 0);
});

test('the probes of a sidecar count, and those of its other instances do not', () => {
  const initContainers = [
    {name: 'main', image: 'nginx', restartPolicy: 'Always' as const, readinessProbe: PROBE},
  ];
  const steps: PodFacts['steps'] = [
    ...START,
    {step: 'StartContainer', at: T0 + 9900, ms: 100, container: 'main', containerId: 'c2'},
    {step: 'Started', at: T0 + 10_000, container: 'main'},
    {step: 'Ready', at: T0 + 11_000, container: 'main'},
  ];
  const second = {id: 'c2', name: 'main', createdMs: T0 + 9800, startedMs: T0 + 9950};
  const facts = notReady({steps, containers: [anInstance(8), second]}, {initContainers, containers: []});
  expect(probePhasesOf(facts)).toEqual([
    'readiness main 3-8 kubelet',
    'startup main 10-10 kubelet',
    'readiness main 10-11 kubelet',
  ]);
});

test('an init container has no wait for a probe, and the wait for its next instance is a back-off', () => {
  const waiting = {reason: 'CrashLoopBackOff'};
  const status = {
    ...POD.status,
    conditions: [],
    initContainerStatuses: [
      {name: 'main', ready: false, restartCount: 1, image: 'nginx', imageID: '', state: {waiting}},
    ],
  };
  const initContainers = [{name: 'main', image: 'nginx'}];
  const facts = someFacts({
    pod: {...POD, status, spec: {initContainers, containers: []}},
    steps: START,
    containers: [anInstance(8)],
  });
  expect(phasesOf(facts).slice(2)).toEqual([
    'start main 2.9-3 kubelet',
    'init main 3-8 runtime',
    'back-off main 8-… runtime ~',
  ]);
});

test('of another kubelet, the last readiness of a pod that restarted is not its first one', () => {
  const second = {id: 'c2', name: 'main', createdMs: T0 + 7000, startedMs: T0 + 7500};
  expect(computeTimeline(someFacts({containers: [anInstance(5), second]}))).not.toHaveProperty('readyMs');
  const counted = {name: 'main', ready: true, restartCount: 1, image: 'nginx', imageID: ''};
  const status = {...POD.status, containerStatuses: [counted]};
  expect(computeTimeline(someFacts({pod: {...POD, status}}))).not.toHaveProperty('readyMs');
});

test('of another kubelet, a pod is not Ready after its container has ended, and waits for a probe', () => {
  expect(computeTimeline(someFacts({containers: [anInstance(5)]}))).not.toHaveProperty('readyMs');
  const waiting = {name: 'main', ready: false, restartCount: 0, image: 'nginx', imageID: ''};
  const facts = notReady({containers: [anInstance()]}, withProbes({readinessProbe: PROBE}));
  const status = {...facts.pod.status, containerStatuses: [waiting]};
  expect(phasesOf({...facts, pod: {...facts.pod, status}})).toContain('readiness main 3-… status ~');
  const starting = {...facts, pod: {...facts.pod, status, spec: withProbes({startupProbe: PROBE})}};
  expect(phasesOf(starting)).toContain('startup main 3-… status ~');
});
