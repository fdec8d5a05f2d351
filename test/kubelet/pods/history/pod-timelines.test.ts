import {expect, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import type {PodStatus} from '../../../../src/api/types/v1-status.js';
import {podUid} from '../../../../src/cri/index.js';
import {PodTimelines} from '../../../../src/kubelet/pods/history/pod-timelines.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

const WEB = {uid: podUid('u1'), name: 'web', namespace: 'default'};
const POD: Pod = {apiVersion: 'v1', kind: 'Pod', metadata: WEB, spec: {containers: []}};
const CALL = {requestType: 'StartContainerRequest', request: {containerId: 'c1'}} as const;

function run(timelines: PodTimelines, ref: typeof WEB, method: string, more: object = {}): void {
  const begun = {...CALL, method};
  timelines.call(ref, begun);
  timelines.call(ref, begun, {...begun, durationMs: 5, ...more});
}

const status = (fields: Partial<PodStatus>): PodStatus => ({phase: 'Pending', ...fields});

test('a call that has not ended is open', () => {
  const timelines = new PodTimelines(new FakeClock());
  timelines.call(WEB, {
    method: 'PullImage',
    requestType: 'PullImageRequest',
    request: {image: {image: 'nginx'}},
  });
  expect(timelines.steps(WEB.uid)).toEqual([
    {step: 'PullImage', at: expect.any(Number) as number, isOpen: true, image: 'nginx'},
  ]);
});

test('a failed call is marked, and calls of probes are not steps', () => {
  const timelines = new PodTimelines(new FakeClock());
  run(timelines, WEB, 'ExecSync');
  run(timelines, WEB, 'StartContainer', {error: new Error('no')});
  expect(timelines.steps(WEB.uid)).toEqual([
    {step: 'StartContainer', at: expect.any(Number) as number, ms: 5, isFailed: true, containerId: 'c1'},
  ]);
});

test('the first and the last steps of a pod are kept', () => {
  const timelines = new PodTimelines(new FakeClock());
  run(timelines, WEB, 'RunPodSandbox');
  for (let count = 0; count < 1000; count++) run(timelines, WEB, 'StartContainer');
  run(timelines, WEB, 'StopContainer');
  const steps = timelines.steps(WEB.uid);
  expect(steps).toHaveLength(64);
  expect([steps[0]?.step, steps.at(-1)?.step]).toEqual(['RunPodSandbox', 'StopContainer']);
});

test('the pods that changed least recently are dropped', () => {
  const timelines = new PodTimelines(new FakeClock());
  for (let count = 0; count < 256; count++) {
    run(timelines, {...WEB, uid: podUid(`other-${count}`)}, 'RunPodSandbox');
    run(timelines, WEB, 'StartContainer');
  }
  expect(timelines.steps(podUid('other-0'))).toEqual([]);
  expect(timelines.steps(podUid('other-1'))).toHaveLength(1);
  expect(timelines.steps(WEB.uid)).toHaveLength(64);
});

test.each([
  ['that starts', status({startTime: '2026-05-01T12:00:00Z'}), ['Admitted']],
  ['that was admitted earlier', status({startTime: '2026-05-01T11:59:00Z'}), []],
  ['that runs already', status({phase: 'Running', startTime: '2026-05-01T12:00:00Z'}), []],
] as const)('the first status of a pod %s is %j', (_what, first, steps) => {
  const timelines = new PodTimelines(new FakeClock({nowMs: Date.parse('2026-05-01T12:00:00.5Z')}));
  timelines.statusChanged(POD, {status: first, reasons: {}});
  expect(timelines.steps(WEB.uid).map(({step}) => step)).toEqual(steps);
});

test('changes of readiness and the deletion are steps', () => {
  const timelines = new PodTimelines(new FakeClock());
  const main = {name: 'main', image: '', imageID: '', restartCount: 0};
  const running = (ready: boolean): PodStatus =>
    status({
      phase: 'Running',
      containerStatuses: [{...main, started: true, ready}],
      conditions: [{type: 'Ready', status: ready ? 'True' : 'False'}],
    });
  const deletion = {deletionTimestamp: '2026-05-01T12:00:30Z', deletionGracePeriodSeconds: 30};
  timelines.statusChanged(POD, {status: status({}), reasons: {}});
  timelines.statusChanged(POD, {status: running(true), reasons: {}});
  timelines.statusChanged(POD, {status: running(false), reasons: {}, deletion});
  timelines.statusChanged(POD, {status: running(false), reasons: {}, deletion});
  expect(timelines.steps(WEB.uid).map(({step}) => step)).toEqual([
    ...['Started', 'Ready', 'PodReady'],
    ...['NotReady', 'Deleted'],
  ]);
});

test('each exit of an instance is a step, also of one that was replaced before the next status', () => {
  const timelines = new PodTimelines(new FakeClock());
  const main = {name: 'main', image: '', imageID: '', restartCount: 0, ready: false};
  const exited = (id: string, exitCode: number) => ({
    terminated: {exitCode, containerID: `containerd://${id}`, reason: 'Error'},
  });
  const withMain = (more: object): PodStatus => status({containerStatuses: [{...main, ...more}]});
  for (const each of [
    withMain({state: {running: {}}}),
    withMain({state: exited('c1', 3)}),
    withMain({state: {waiting: {}}, lastState: exited('c1', 3)}),
    withMain({state: {running: {}}, lastState: exited('c2', 0)}),
  ])
    timelines.statusChanged(POD, {status: each, reasons: {}});
  const at = expect.any(Number) as number;
  expect(timelines.steps(WEB.uid)).toEqual([
    {step: 'Exited', at, container: 'main', containerId: 'c1', exitCode: 3},
    {step: 'Exited', at, container: 'main', containerId: 'c2', exitCode: 0},
  ]);
});

test('the lives of pods that are not present have their last statuses, the one that changed last at the end', () => {
  const timelines = new PodTimelines(new FakeClock());
  const named = (uid: string): Pod => ({...POD, metadata: {...WEB, uid}});
  for (const uid of ['a', 'b', 'c', 'a'])
    timelines.statusChanged(named(uid), {status: status({message: uid}), reasons: {}});
  run(timelines, {...WEB, uid: podUid('d')}, 'RunPodSandbox');
  expect(timelines.livesWithout(new Set([podUid('b')]))).toEqual([
    {pod: {...named('c'), status: status({message: 'c'})}, steps: []},
    {pod: {...named('a'), status: status({message: 'a'})}, steps: []},
  ]);
});
