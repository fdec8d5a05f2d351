import {expect, test} from 'vitest';
import type {PodStatus} from '../../../../src/api/types/v1-status.js';
import {podUid} from '../../../../src/cri/index.js';
import {PodTimelines} from '../../../../src/kubelet/pods/history/pod-timelines.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

const WEB = {uid: podUid('u1'), name: 'web', namespace: 'default'};
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
  timelines.statusChanged(WEB, {status: first, reasons: {}});
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
  timelines.statusChanged(WEB, {status: status({}), reasons: {}});
  timelines.statusChanged(WEB, {status: running(true), reasons: {}});
  timelines.statusChanged(WEB, {status: running(false), reasons: {}, deletion});
  timelines.statusChanged(WEB, {status: running(false), reasons: {}, deletion});
  expect(timelines.steps(WEB.uid).map(({step}) => step)).toEqual([
    ...['Started', 'Ready', 'PodReady'],
    ...['NotReady', 'Deleted'],
  ]);
});
