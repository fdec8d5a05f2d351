import {expect, test} from 'vitest';
import type {Container, Pod} from '../../../src/api/v1.js';
import type {Clock} from '../../../src/base/clock.js';
import {connect} from '../../../src/cri/index.js';
import {containerEvents, type PodEvent} from '../../../src/kubelet/container/events.js';
import {ImageManager, type ImageRequest} from '../../../src/kubelet/images/image-manager.js';
import {FilePullRecords} from '../../../src/kubelet/images/records/pull-records.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {anImage, BUSYBOX, FakeRuntime} from '../../fakes/fake-runtime.js';

interface Setup extends AsyncDisposable {
  readonly fake: FakeRuntime;
  readonly manager: ImageManager;
  readonly events: PodEvent[];
  readonly time: {now: number};
  request(image: string, policy: Container['imagePullPolicy']): ImageRequest;
}

async function setUp(): Promise<Setup> {
  const fake = await FakeRuntime.start({images: [anImage({name: BUSYBOX})]});
  const connection = connect(fake.endpoint);
  const events: PodEvent[] = [];
  const time = {now: 1_000_000};
  const clock: Clock = {now: () => time.now, sleep: () => Promise.resolve()};
  return {
    fake,
    events,
    time,
    manager: new ImageManager({clock, records: new FilePullRecords(await temporaryDirectory())}),
    request: (image, pullPolicy) => {
      const pod: Pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {name: 'p', namespace: 'default', uid: 'u1', annotations: {note: 'x'}},
        spec: {containers: []},
      };
      const sink = containerEvents((event) => events.push(event), pod, 'containers', 'web');
      return {
        pod,
        image,
        pullPolicy,
        events: sink,
        sandboxConfig: {},
        pullSecrets: [],
        service: connection.images,
      };
    },
    [Symbol.asyncDispose]: async () => {
      connection.close();
      await fake.stop();
    },
  };
}

const never = new AbortController().signal;

test('an image that is there is used without a pull', async () => {
  await using s = await setUp();
  const outcome = await s.manager.ensureImageExists(s.request(BUSYBOX, 'IfNotPresent'), never);
  expect(outcome.kind).toBe('present');
  expect(s.fake.callsTo('PullImage')).toHaveLength(0);
  expect(s.events.map(({reason}) => reason)).toEqual(['Pulled']);
});

test('Always pulls without looking first, and sends the pod annotations along', async () => {
  await using s = await setUp();
  s.fake.publishImage(anImage({name: BUSYBOX}));
  await s.manager.ensureImageExists(s.request(BUSYBOX, 'Always'), never);
  expect(s.fake.calls.map(({method}) => method)).toEqual(['PullImage', 'ImageStatus']);
  expect(s.fake.callsTo('PullImage')[0]?.request).toMatchObject({
    image: {image: BUSYBOX, annotations: {note: 'x'}},
  });
});

test('Never and absent is ErrImageNeverPull in the kubelet’s words', async () => {
  await using s = await setUp();
  const outcome = await s.manager.ensureImageExists(s.request('localhost:5000/nosuch:1', 'Never'), never);
  expect(outcome).toMatchObject({
    kind: 'failed',
    failure: {
      reason: 'ErrImageNeverPull',
      message: 'Container image "localhost:5000/nosuch:1" is not present with pull policy of Never',
    },
  });
});

test('a name that is no reference is InvalidImageName and asks the runtime nothing', async () => {
  await using s = await setUp();
  const outcome = await s.manager.ensureImageExists(s.request('Not A Name', 'IfNotPresent'), never);
  expect(outcome).toMatchObject({kind: 'failed', failure: {reason: 'InvalidImageName'}});
  expect(s.fake.calls).toHaveLength(0);
});

test('a failed pull is not tried again before its back-off has passed, and the delay doubles', async () => {
  await using s = await setUp();
  const request = s.request('localhost:5000/nosuch:1', 'IfNotPresent');
  const reasons: string[] = [];
  for (const passed of [0, 9_999, 1, 19_999, 1]) {
    s.time.now += passed;
    const outcome = await s.manager.ensureImageExists(request, never);
    reasons.push(outcome.kind === 'failed' ? outcome.failure.reason : 'present');
  }
  expect(reasons).toEqual([
    'ErrImagePull',
    'ImagePullBackOff',
    'ErrImagePull',
    'ImagePullBackOff',
    'ErrImagePull',
  ]);
  expect(s.events.find(({reason}) => reason === 'BackOff')).toMatchObject({type: 'Normal'});
});

test('an aborted pull rejects with the signal’s reason and counts as no failure', async () => {
  await using s = await setUp();
  s.fake.injectDelay('PullImage', 60_000);
  const controller = new AbortController();
  const pulling = s.manager.ensureImageExists(
    s.request('localhost:5000/nosuch:1', 'Always'),
    controller.signal,
  );
  const reason = new Error('stop');
  await expect.poll(() => s.fake.callsTo('PullImage').length + s.events.length).toBeGreaterThan(0);
  controller.abort(reason);
  await expect(pulling).rejects.toBe(reason);
  expect(s.events.map((event) => event.reason)).toEqual(['Pulling']);
});
