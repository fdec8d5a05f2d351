import {expect, test} from 'vitest';
import {applyPodDefaults} from '../../../../src/api/defaults/pod-defaults.js';
import type {Container, Pod} from '../../../../src/api/types/v1-pod.js';
import type {ContainerStatus} from '../../../../src/api/types/v1-status.js';
import {toStaticPod} from '../../../../src/kubelet/sources/static-pod.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';
import {anImage, BUSYBOX} from '../../../fakes/runtime-builders.js';
import {startRegistryTestbed} from '../registry-testbed.js';

const signal = new AbortController().signal;
const options = {networkError: undefined, resizeReview: undefined, syncFrequencyMs: 60_000, signal};
const LOST = {
  terminated: {
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was terminated',
    exitCode: 137,
  },
};

/** Returns the static pod of a manifest with these containers. */
function aStaticPod(containers: readonly Container[], initContainers: readonly Container[] = []): Pod {
  const source = {nodeName: 'n1', file: '/manifests/web.yaml', seen: '2026-05-01T12:00:00Z'};
  return toStaticPod(applyPodDefaults(aPod({containers, initContainers})), source);
}

const missing = aContainer({name: 'missing', image: 'localhost:5000/none:1', imagePullPolicy: 'Never'});
const present = aContainer({name: 'run', image: BUSYBOX});

// The first is a pod past its deadline in the kubelet 1.36.2: what had not run was terminated, for whatever reason it waited.
test.each<[string, Pod]>([
  ['a container whose image is missing', aStaticPod([missing, present])],
  ['a sidecar whose image is missing', aStaticPod([present], [{...missing, restartPolicy: 'Always'}])],
])('of a static pod that was stopped, %s is terminated and stays so', async (_, pod) => {
  const {pods, runtime} = await startRegistryTestbed({images: [anImage()]});
  const syncer = pods.createSyncer(pod);
  const observe = async () => (await syncer.observe(signal)).runtime;
  const waiting = (): readonly ContainerStatus[] =>
    [...(syncer.status?.initContainerStatuses ?? []), ...(syncer.status?.containerStatuses ?? [])].filter(
      ({name, state}) => name === 'missing' && state?.waiting !== undefined,
    );
  const missed = () =>
    [...(syncer.status?.initContainerStatuses ?? []), ...(syncer.status?.containerStatuses ?? [])].find(
      ({name}) => name === 'missing',
    );
  await syncer.syncPod(await observe(), options);
  await observe();
  expect(waiting()).toHaveLength(1);

  await syncer.syncTerminatingPod(await observe(), {gracePeriodSeconds: 1});
  await syncer.syncTerminatedPod(await observe());

  expect(missed()?.state).toEqual(LOST);
  await syncer.refreshStatus();
  expect(missed()?.state).toEqual(LOST);
  await syncer.flush();
  expect(runtime.containers.filter(({state}) => state === 'CONTAINER_RUNNING')).toEqual([]);
});
