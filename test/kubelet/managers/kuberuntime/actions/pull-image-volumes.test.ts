import {expect, test} from 'vitest';
import type {PodEvent} from '../../../../../src/kubelet/contract/pod-event.js';
import {anImage, BUSYBOX} from '../../../../fakes/fake-runtime.js';
import {aLocalPod, startRegistryTestbed} from '../../../pods/registry-testbed.js';
import {syncOnce} from '../../../pods/sync-once.js';

const signal = new AbortController().signal;
const CONTENT = 'localhost:5000/content:1';

const ENV = [
  {name: 'A', value: 'x'},
  {name: 'ROOT', value: '/etc'},
];

function aPodThatMounts(reference: string, mount: object = {}, pullPolicy = 'IfNotPresent') {
  const volumeMounts = [{name: 'v', mountPath: '/v', ...mount}];
  return aLocalPod({
    containers: [
      {name: 'main', image: BUSYBOX, command: ['sleep', '1'], volumeMounts, env: ENV},
      {name: 'other', image: BUSYBOX, command: ['sleep', '1']},
    ],
    volumes: [{name: 'v', image: {reference, pullPolicy}}],
  });
}

const summarizeEvents = (events: readonly PodEvent[]): readonly (readonly string[])[] =>
  events.map(({reason, fieldPath = 'the pod'}) => [fieldPath, reason]);

// Proves: Container.image
test('an image volume is mounted read-only by image ID', async () => {
  const content = anImage({name: CONTENT});
  const {pods, runtime, events} = await startRegistryTestbed({images: [anImage({name: BUSYBOX}), content]});
  const pod = aPodThatMounts(CONTENT, {subPathExpr: '$(A)/y'});
  await syncOnce(pods.createSyncer(pod), signal);
  const [main] = runtime.containers;
  expect(main?.config.mounts[0]).toMatchObject({
    hostPath: '',
    containerPath: '/v',
    readonly: true,
    image: {image: content.id, userSpecifiedImage: CONTENT, annotations: pod.metadata.annotations},
    imageSubPath: 'x/y',
  });
  expect(summarizeEvents(events).slice(0, 2)).toEqual([
    ['the pod', 'Pulled'],
    ['spec.containers{main}', 'Pulled'],
  ]);
});

test.each([
  [{subPathExpr: '$(A)/../..'}, "unable to provision SubPath `x/../..`: must not contain '..'"],
  [{subPathExpr: '$(ROOT)'}, 'error SubPath `/etc` must not be an absolute path'],
  [{subPath: '../etc'}, "unable to provision SubPath `../etc`: must not contain '..'"],
])('a sub-path outside the image volume never reaches the runtime: %j', async (mount, message) => {
  const {pods, runtime} = await startRegistryTestbed({
    images: [anImage({name: BUSYBOX}), anImage({name: CONTENT})],
  });
  const {results} = await syncOnce(pods.createSyncer(aPodThatMounts(CONTENT, mount)), signal);
  expect(results.find(({target}) => target === 'main')?.failure).toMatchObject({
    reason: 'CreateContainerConfigError',
    message: expect.stringContaining(message) as unknown,
  });
  expect(runtime.containers.map(({config}) => config.metadata?.name)).toEqual(['other']);
});

// Proves: ImageVolumeSource.reference, Volume.image
test('the missing image of a volume is pulled', async () => {
  const {pods, runtime} = await startRegistryTestbed({
    images: [anImage({name: BUSYBOX})],
    registry: [anImage({name: CONTENT})],
  });
  await syncOnce(pods.createSyncer(aPodThatMounts(CONTENT)), signal);
  expect(runtime.callsTo('PullImage')).toMatchObject([{request: {image: {image: CONTENT}}}]);
});

// Proves: ImageVolumeSource.pullPolicy
test('a missing image with pull policy Never only blocks the containers that mount the volume', async () => {
  const {pods, runtime, events} = await startRegistryTestbed({images: [anImage({name: BUSYBOX})]});
  const {results, status} = await syncOnce(
    pods.createSyncer(aPodThatMounts('localhost:5000/none:1', {}, 'Never')),
    signal,
  );
  expect(results.map(({target, failure}) => [target, failure?.reason])).toEqual([
    ['web', undefined],
    ['main', 'ErrImageNeverPull'],
    ['other', undefined],
  ]);
  expect(runtime.containers.map(({config}) => config.metadata?.name)).toEqual(['other']);
  expect(summarizeEvents(events).slice(0, 2)).toEqual([
    ['the pod', 'ErrImageNeverPull'],
    ['spec.containers{main}', 'Failed'],
  ]);
  expect(events[1]?.message).toBe('Error: ErrImageNeverPull');
  expect(status.containerStatuses?.[0]?.state?.waiting).toEqual({
    reason: 'ErrImageNeverPull',
    message: 'Container image "localhost:5000/none:1" is not present with pull policy of Never',
  });
});
