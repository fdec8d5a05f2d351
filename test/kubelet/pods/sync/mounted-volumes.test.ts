import {mkdir, rmdir} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {Volume} from '../../../../src/api/types/v1-volumes.js';
import {systemClock} from '../../../../src/base/clock.js';
import {NO_OBJECTS, type ApiObjects} from '../../../../src/kubelet/contract/api-objects.js';
import {failuresOf} from '../../../../src/kubelet/contract/sync-result.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aLocalPod, startRegistryTestbed} from '../registry-testbed.js';
import {syncOnce} from '../sync-once.js';

const signal = new AbortController().signal;
const GONE = 'MountVolume.SetUp failed for volume "v" : configmap "c" not found';

/** Starts a pod whose container mounts the volume `v`, and counts the instances of the container. */
async function startPod(volume: Omit<Volume, 'name'>, objects: ApiObjects = NO_OBJECTS) {
  const testbed = await startRegistryTestbed({}, undefined, objects);
  const {pods, runtime, events} = testbed;
  const volumeMounts = [{name: 'v', mountPath: '/v'}];
  const pod = aLocalPod({
    containers: [{name: 'main', image: 'localhost:5000/busybox:1', volumeMounts}],
    volumes: [{name: 'v', ...volume}],
  });
  const syncer = pods.createSyncer(pod);
  await syncOnce(syncer, signal);
  expect(runtime.containers).toHaveLength(1);
  return {
    ...{pods, pod, syncer},
    exitContainer: () => {
      runtime.exitContainer(runtime.containers[0]!.id, 1);
    },
    attempts: () => runtime.containers.map(({config}) => config.metadata?.attempt),
    failedMounts: () =>
      events.filter(({reason}) => reason === 'FailedMount').map(({message, type}) => `${type} ${message}`),
  };
}

/** A ConfigMap `c` until it is deleted. */
function aDeletableConfigMap() {
  let exists = true;
  const objects: ApiObjects = {
    ...NO_OBJECTS,
    configMap: () =>
      exists ? {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'c'}, data: {}} : undefined,
  };
  return {
    objects,
    setExists: (value: boolean) => {
      exists = value;
    },
  };
}

test('a container restarts after the ConfigMap of its volume was deleted, which causes an event', async () => {
  const {objects, setExists} = aDeletableConfigMap();
  const {syncer, exitContainer, attempts, failedMounts} = await startPod({configMap: {name: 'c'}}, objects);
  setExists(false);
  exitContainer();
  const {results} = await syncOnce(syncer, signal);
  expect(failuresOf(results)).toEqual([]);
  expect(attempts()).toEqual([0, 1]);
  expect(failedMounts()).toEqual([`Warning ${GONE}`]);
});

test('a volume that cannot be updated is tried again after 0.5 s, 1 s and so on', async () => {
  const {objects, setExists} = aDeletableConfigMap();
  const {syncer, failedMounts} = await startPod({configMap: {name: 'c'}}, objects);
  setExists(false);
  const {runtime} = await syncer.observe(signal);
  const delays: number[] = [];
  for (let attempt = 0; attempt < 3; attempt++) {
    syncer.requestVolumeRefresh();
    const before = systemClock.now();
    const pass = await syncer.syncPod(runtime, {
      networkError: undefined,
      resizeReview: undefined,
      syncFrequencyMs: 60_000,
      signal,
    });
    expect(failuresOf(pass.results)).toEqual([]);
    // The time at which the attempt failed is between both.
    delays.push(Math.floor((pass.refreshAt! - before) / 500));
    expect(pass.refreshAt!).toBeLessThanOrEqual(systemClock.now() + 1 + 500 * 2 ** attempt);
  }
  expect(failedMounts()).toEqual([GONE, GONE, GONE].map((text) => `Warning ${text}`));
  expect(delays[0]).toBeGreaterThanOrEqual(1);
  expect(delays[1]).toBeGreaterThanOrEqual(2);
  expect(delays[2]).toBeGreaterThanOrEqual(4);
});

test('a mounted hostPath is not checked again', async () => {
  const path = join(await temporaryDirectory(), 'data');
  await mkdir(path);
  const {syncer, exitContainer, attempts, failedMounts} = await startPod({
    hostPath: {path, type: 'Directory'},
  });
  await rmdir(path);
  exitContainer();
  await syncOnce(syncer, signal);
  expect(attempts()).toEqual([0, 1]);
  expect(failedMounts()).toEqual([]);
});

// As in a kubelet, for which the mount is uncertain then.
test('after a restart of the kubelet, a container restarts only when its volumes were mounted again', async () => {
  const {objects, setExists} = aDeletableConfigMap();
  const {pods, pod, exitContainer, attempts} = await startPod({configMap: {name: 'c'}}, objects);
  setExists(false);
  exitContainer();
  const restarted = pods.createSyncer(pod);
  const {results} = await syncOnce(restarted, signal);
  expect(failuresOf(results)).toMatchObject([{failure: {reason: 'FailedMount', message: GONE}}]);
  expect(attempts()).toEqual([0]);
  setExists(true);
  await syncOnce(restarted, signal);
  expect(attempts()).toEqual([0, 1]);
});
