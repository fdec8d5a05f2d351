import {expect, test} from 'vitest';
import {
  computeMedians,
  computeTimeline,
  slowestPhases,
  uncoveredMs,
} from '../../../src/features/timeline/compute-timeline.js';
import type {Phase} from '../../../src/features/timeline/phase.js';
import type {PodFacts} from '../../../src/features/timeline/pod-facts.js';
import {anEvent, brief, phasesOf, someFacts, T0} from './some-facts.js';

const STEPS: PodFacts['steps'] = [
  {step: 'Admitted', at: T0 + 300},
  {step: 'PrepareVolumes', at: T0 + 300, ms: 200},
  {step: 'RunPodSandbox', at: T0 + 600, ms: 1900},
  {step: 'PullImage', at: T0 + 2600, ms: 4000, image: 'nginx'},
  {step: 'CreateContainer', at: T0 + 6900, ms: 150, container: 'main', containerId: 'c1'},
  {step: 'StartContainer', at: T0 + 7100, ms: 400, container: 'main', containerId: 'c1'},
  {step: 'Started', at: T0 + 7600, container: 'main'},
  {step: 'Ready', at: T0 + 9100, container: 'main'},
  {step: 'PodReady', at: T0 + 9100},
];

test('the phases of another kubelet follow from the runtime and the status, and are inferred', () => {
  expect(phasesOf(someFacts())).toEqual([
    'sandbox 0.25-2 runtime ~',
    'start main 7-7.5 runtime ~',
    'readiness 7.5-9 status ~',
    'running main 7.5-… runtime',
  ]);
});

test('mounts that kcri has recorded are a phase, in which slow ones are shown, and the sandbox begins after them', () => {
  const mount = (name: string, atMs: number, mountMs: number) => ({
    ...{name, mountMs},
    mountedAt: new Date(T0 + atMs).toISOString(),
  });
  const mounts = [mount('data', 1500, 1100), mount('tmp', 410, 3), {name: 'waiting'}];
  expect(phasesOf(someFacts({mounts})).slice(0, 3)).toEqual([
    'volumes 0.4-1.5 kubelet ~',
    'mount data 0.4-1.5 kubelet',
    'sandbox 1.5-2 runtime ~',
  ]);
  // A measured phase is better, and mounts are parts of it.
  const measured = phasesOf(someFacts({mounts, steps: STEPS}));
  expect(measured.filter((text) => text.startsWith('volumes'))).toEqual(['volumes 0.3-0.5 kubelet']);
  expect(measured).toContain('mount data 0.4-1.5 kubelet');
  const slowest = slowestPhases(computeTimeline(someFacts({mounts})), new Map());
  expect(slowest.map(({phase}) => phase.name)).not.toContain('mount');
  // A volume that was mounted again later does not say when the sandbox began.
  const later = phasesOf(someFacts({mounts: [...mounts, mount('late', 3000, 20)]}));
  expect(later).toContain('sandbox 0.25-2 runtime ~');
});

test('the first event about an image is the end of the sandbox, which the runtime creates before its network', () => {
  const events = [
    anEvent(T0 + 4500, 'Pulled', 'Container image "nginx" already present on machine'),
    anEvent(T0 + 4900, 'Pulling', 'Pulling image "other"'),
  ];
  expect(phasesOf(someFacts({events}))[0]).toBe('sandbox 0.25-4.5 runtime ~');
  const [sandbox] = computeTimeline(someFacts({events})).phases;
  expect(sandbox?.inferred).toBe(
    'from the start of the pod, in whole seconds, to the first event about an image; includes the volumes',
  );
  // Events of an earlier sandbox, which the runtime has removed.
  const early = [anEvent(T0 + 1000, 'Pulled', 'Container image "nginx" already present on machine')];
  expect(phasesOf(someFacts({events: early}))[0]).toBe('sandbox 0.25-2 runtime ~');
});

test('a pod is Ready no earlier than a container that started in the second of the condition', () => {
  const late = someFacts({
    containers: [{id: 'c1', name: 'main', createdMs: T0 + 9200, startedMs: T0 + 9400}],
  });
  expect(computeTimeline(late)).toMatchObject({readyMs: T0 + 9400});
  expect(phasesOf(late)).toContain('readiness 9.4-9.4 status ~');
});

test('the run of an init container is work, and it has neither a startup nor a readiness', () => {
  const {pod, containers} = someFacts();
  const init = {id: 'i1', name: 'init', createdMs: T0 + 3000, startedMs: T0 + 3500, finishedMs: T0 + 6500};
  const facts = someFacts({
    pod: {...pod, spec: {...pod.spec, initContainers: [{name: 'init', image: 'nginx'}]}},
    containers: [init, ...containers],
    steps: [
      {step: 'StartContainer', at: T0 + 3100, ms: 400, container: 'init', containerId: 'i1'},
      {step: 'Ready', at: T0 + 6800, container: 'init'},
      ...STEPS,
    ],
  });
  expect(phasesOf(facts).filter((text) => text.includes('init'))).toEqual([
    'start init 3.1-3.5 kubelet',
    'init init 3.5-6.5 runtime',
  ]);
  const {phases, nowMs} = computeTimeline(facts);
  const slowest = slowestPhases({...computeTimeline(facts), phases, nowMs}, new Map());
  expect(slowest.map(({phase}) => phase.name)).toContain('init');
});

test('what the kubelet of kcri measured counts instead', () => {
  const pulled = anEvent(
    T0 + 6600,
    'Pulled',
    'Successfully pulled image "nginx" in 4s (4s including waiting). Image size: 5 bytes.',
  );
  const timeline = computeTimeline(someFacts({manager: 'kcri', steps: STEPS, events: [pulled]}));
  expect(timeline.phases.map(brief)).toEqual([
    'admission 0.25-0.3 kubelet',
    'volumes 0.3-0.5 kubelet',
    'sandbox 0.6-2.5 kubelet',
    'pull nginx 2.6-6.6 kubelet',
    'create main 6.9-7.05 kubelet',
    'start main 7.1-7.5 kubelet',
    'startup main 7.5-7.6 kubelet',
    'running main 7.5-… runtime',
    'readiness main 7.6-9.1 kubelet',
  ]);
  expect(timeline).toMatchObject({startMs: T0 + 250, readyMs: T0 + 9100});
  expect(slowestPhases(timeline, new Map([['pull', 900]])).slice(0, 2)).toMatchObject([
    {phase: {name: 'pull'}, durationMs: 4000, medianMs: 900},
    {phase: {name: 'sandbox'}, durationMs: 1900},
  ]);
  expect(uncoveredMs(timeline, timeline.startMs, timeline.readyMs!)).toBe(100 + 100 + 300 + 50);
});

test.each<readonly [string, PodFacts['events'], readonly string[]]>([
  [
    'a pull takes as long as its event says',
    [
      anEvent(T0 + 2500, 'Pulling', 'Pulling image "nginx"'),
      anEvent(
        T0 + 6500,
        'Pulled',
        'Successfully pulled image "nginx" in 3.5s (4s including waiting). Image size: 5 bytes.',
      ),
    ],
    ['pull nginx 3-6.5 events'],
  ],
  [
    'a pull that no event ends is open',
    [anEvent(T0 + 2500, 'Pulling', 'Pulling image "nginx"')],
    ['pull nginx 2.5-… events ~'],
  ],
  [
    'a present image is not pulled',
    [anEvent(T0, 'Pulled', 'Container image "nginx" already present on machine')],
    [],
  ],
  [
    'a repeated warning lasts from the first to the last time',
    [
      anEvent(T0 + 5000, 'Unhealthy', 'Readiness probe failed: HTTP 500', {
        ...{type: 'Warning', count: 3, fieldPath: 'spec.containers{main}'},
        firstTimestamp: '2026-05-01T12:00:01Z',
      }),
    ],
    ['failure Unhealthy main 1-5 events'],
  ],
])('%s', (_title, events, expected) => {
  expect(phasesOf(someFacts({events, sandboxes: [], containers: []}))).toEqual(expected);
});

test('the gap between two instances of a container is a back-off', () => {
  const first = {
    id: 'c1',
    name: 'main',
    createdMs: T0,
    startedMs: T0 + 100,
    finishedMs: T0 + 200,
    exitCode: 1,
  };
  const second = {id: 'c2', name: 'main', createdMs: T0 + 10_200, startedMs: T0 + 10_300};
  expect(phasesOf(someFacts({sandboxes: [], containers: [first, second]}))).toEqual([
    'start main 0-0.1 runtime ~',
    'running main 0.1-0.2 runtime',
    'back-off main 0.2-10.2 runtime ~',
    'start main 10.2-10.3 runtime ~',
    'running main 10.3-… runtime',
  ]);
});

test('a deletion begins its grace period before its timestamp', () => {
  const facts = someFacts({sandboxes: [], containers: []});
  const metadata = {
    ...facts.pod.metadata,
    ...{deletionTimestamp: '2026-05-01T12:01:00Z', deletionGracePeriodSeconds: 30},
  };
  expect(phasesOf({...facts, pod: {...facts.pod, metadata}})).toEqual(['stop pod 30-… status ~']);
});

test('a container that fails its readiness probe later does not start again', () => {
  const steps: PodFacts['steps'] = [
    ...STEPS,
    {step: 'NotReady', at: T0 + 20_000, container: 'main'},
    {step: 'Ready', at: T0 + 40_000, container: 'main'},
  ];
  expect(phasesOf(someFacts({steps})).filter((line) => line.startsWith('readiness'))).toEqual([
    'readiness main 7.6-9.1 kubelet',
  ]);
});

test('medians are of three phases or more that have ended and did not fail', () => {
  const timelineOf = (durations: readonly number[], more: Partial<Phase> = {}) => ({
    ...computeTimeline(someFacts()),
    phases: durations.map((ms) => ({
      ...({name: 'pull', startMs: T0, endMs: T0 + ms, source: 'kubelet'} as const),
      ...more,
    })),
  });
  expect(computeMedians([timelineOf([1, 3]), timelineOf([100], {isFailed: true})])).toEqual(new Map());
  expect(computeMedians([timelineOf([1, 3, 10]), timelineOf([4])])).toEqual(new Map([['pull', 3.5]]));
});
