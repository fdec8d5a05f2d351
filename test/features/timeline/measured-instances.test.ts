import {expect, test} from 'vitest';
import {measuredInstances} from '../../../src/features/timeline/measured-instances.js';
import type {TimelineStep} from '../../../src/kubelet/index.js';
import {phasesOf, someFacts, T0} from './some-facts.js';

const CREATED = {
  step: 'CreateContainer',
  at: T0 + 1000,
  ms: 200,
  container: 'main',
  containerId: 'c1',
} as const;
const STARTED = {
  step: 'StartContainer',
  at: T0 + 1300,
  ms: 100,
  container: 'main',
  containerId: 'c1',
} as const;
const RAN = {id: 'c1', name: 'main', createdMs: T0 + 1200, startedMs: T0 + 1400};
const step = (
  name: TimelineStep['step'],
  second: number,
  more: Partial<TimelineStep> = {},
): TimelineStep => ({
  ...{step: name, at: T0 + second * 1000, container: 'main', containerId: 'c1'},
  ...more,
});

test.each<[string, readonly TimelineStep[], object | undefined]>([
  ['nothing', [], undefined],
  ['an end of another instance', [step('Exited', 5, {containerId: 'c0', exitCode: 0})], undefined],
  ['a stop that failed', [step('StopContainer', 4, {ms: 9, isFailed: true})], undefined],
  ['a stop that has not ended', [step('StopContainer', 4, {isOpen: true})], undefined],
  [
    'its exit',
    [step('Exited', 5, {exitCode: 3}), step('RemoveContainer', 6)],
    {finishedMs: T0 + 5000, exitCode: 3, inferredEnd: 'until the kubelet noticed its exit'},
  ],
  [
    'its stop, before the exit is noticed',
    [step('StopContainer', 4, {ms: 500}), step('Exited', 5, {exitCode: 143})],
    {finishedMs: T0 + 4500, exitCode: 143, inferredEnd: 'until the response of StopContainer'},
  ],
  ['its removal', [step('RemoveContainer', 6)], {finishedMs: T0 + 6000, inferredEnd: 'until its removal'}],
  [
    'an exit that was noticed before the response of StartContainer',
    [step('Exited', 1.35, {exitCode: 0})],
    {finishedMs: T0 + 1400, exitCode: 0},
  ],
])('of an instance followed by %s, the end is found', (_, later, end) => {
  const expected = end === undefined ? [] : [expect.objectContaining({...RAN, ...end}) as object];
  expect(measuredInstances([CREATED, STARTED, ...later])).toEqual(expected);
});

test('an instance that did not start is none', () => {
  const failed = {...STARTED, isFailed: true} as const;
  expect(measuredInstances([CREATED, failed, step('RemoveContainer', 6)])).toEqual([]);
});

test('the life of a deleted pod ends with its removal, and says which ends are inferred', () => {
  const steps: readonly TimelineStep[] = [
    {step: 'Admitted', at: T0 + 300},
    {step: 'RunPodSandbox', at: T0 + 400, ms: 500},
    CREATED,
    STARTED,
    step('StopContainer', 20, {ms: 2000}),
    step('Exited', 22.1, {exitCode: 0}),
    step('RemoveContainer', 23, {ms: 10}),
    {step: 'RemovePodSandbox', at: T0 + 24_000, ms: 10},
  ];
  const {pod} = someFacts();
  const probed = {name: 'main', image: 'nginx', readinessProbe: {exec: {command: ['false']}}};
  const facts = someFacts({
    ...{manager: 'kcri', isDeleted: true, steps, containers: measuredInstances(steps), sandboxes: []},
    pod: {...pod, spec: {containers: [probed]}, status: {phase: 'Succeeded'}},
  });
  expect(phasesOf(facts)).toEqual([
    'admission 0.25-0.3 kubelet',
    'sandbox 0.4-0.9 kubelet',
    'create main 1-1.2 kubelet',
    'start main 1.3-1.4 kubelet',
    'readiness main 1.4-22 kubelet',
    'running main 1.4-22 kubelet ~',
    'stop main 20-22 kubelet',
    'remove main 23-23.01 kubelet',
    'remove sandbox 24-24.01 kubelet',
  ]);
});
