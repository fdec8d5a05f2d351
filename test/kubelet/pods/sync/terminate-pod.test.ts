import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import type {PodStatus} from '../../../../src/api/types/v1-status.js';
import {systemClock} from '../../../../src/base/clock.js';
import {connect} from '../../../../src/cri/index.js';
import {podDir} from '../../../../src/kubelet/contract/node-facts.js';
import {podRef} from '../../../../src/kubelet/contract/pod-ref.js';
import {evaluateWait} from '../../../../src/kubelet/foreground/evaluate-wait.js';
import type {PodRegistry} from '../../../../src/kubelet/pods/registry/pod-registry.js';
import {SILENT_OBSERVER} from '../../../../src/kubelet/pods/registry/pod-registry-options.js';
import {openPodRegistry} from '../../../../src/kubelet/pods/registry/open-pod-registry.js';
import {BUSYBOX} from '../../../fakes/fake-runtime.js';
import {aLocalPod, startRegistryTestbed, type RegistryTestbed} from '../registry-testbed.js';
import {syncOnce} from '../sync-once.js';

const signal = new AbortController().signal;

test.each([
  ['StopContainer', 'failed to "KillContainer" for "main" with KillContainerError: "'],
  ['StopPodSandbox', 'failed to "KillPodSandbox" for "u1" with KillPodSandboxError: "'],
] as const)('a failed %s emits FailedKillPod', async (rpc, text) => {
  const {pods, runtime, events} = await startRegistryTestbed();
  const syncer = pods.createSyncer(aLocalPod({metadata: {uid: 'u1'}}));
  await syncOnce(syncer, signal);
  runtime.injectError(rpc, {code: 'UNKNOWN', message: 'device "a" busy'});

  await expect(syncer.terminate(0)).rejects.toThrow('device "a" busy');

  const warnings = events.filter(({reason}) => reason === 'FailedKillPod');
  expect(warnings).toMatchObject([{type: 'Warning', pod: {metadata: {name: 'web'}}}]);
  expect(warnings[0]?.message.startsWith(`error killing pod: ${text}`)).toBe(true);
  expect(warnings[0]?.message.endsWith('device \\"a\\" busy"')).toBe(true);
});

test('a successful termination emits no warning', async () => {
  const {pods, events} = await startRegistryTestbed();
  const syncer = pods.createSyncer(aLocalPod());
  await syncOnce(syncer, signal);
  await syncer.terminate(0);
  expect(events.filter(({type}) => type === 'Warning')).toEqual([]);
});

test('the containers of a pod are removed only after it was terminated', async () => {
  const {pods, runtime} = await startRegistryTestbed();
  const syncer = pods.createSyncer(aLocalPod());
  await syncOnce(syncer, signal);
  expect(await syncer.removeIfNotLive()).toBe(false);
  expect(runtime.callsTo('RemoveContainer')).toEqual([]);
  await syncer.terminate(0);
  expect(await syncer.removeIfNotLive()).toBe(true);
  expect(runtime.callsTo('RemovePodSandbox')).toHaveLength(1);
});

/** Returns the PodRegistry of another process with the same root directory and runtime. */
function newProcess({runtime, node}: RegistryTestbed): PodRegistry {
  const connection = connect(runtime.endpoint);
  onTestFinished(() => {
    connection.close();
  });
  const {endpoint} = runtime;
  const options = {services: connection, endpoint, node, runtimeName: 'fake', clock: systemClock};
  return openPodRegistry(options, SILENT_OBSERVER);
}

/** Returns the testbed after a process evicted the pod and exited. */
async function startEvicted(pod: Pod): Promise<RegistryTestbed> {
  const testbed = await startRegistryTestbed();
  const syncer = newProcess(testbed).createSyncer(pod);
  const {runtime} = await syncOnce(syncer, signal);
  const volumes = join(podDir(testbed.node, podRef(pod).uid), 'volumes/kubernetes.io~empty-dir');
  await writeFile(join(volumes, 'data/file'), Buffer.alloc(2 * 1024 * 1024, 1));
  const eviction = await syncer.findEviction();
  const override = (status: PodStatus): PodStatus => ({...status, ...eviction?.status});
  await syncer.syncTerminatingPod(runtime, {gracePeriodSeconds: 1, override});
  await syncer.flush();
  expect(syncer.status).toMatchObject({phase: 'Failed', reason: 'Evicted'});
  testbed.runtime.clearCalls();
  return testbed;
}

const FIELDS = {
  containers: [
    {name: 'main', image: BUSYBOX, command: ['sleep', '1'], volumeMounts: [{name: 'data', mountPath: '/d'}]},
  ],
  volumes: [{name: 'data', emptyDir: {sizeLimit: '1Mi'}}],
};

test('the next process only reports the status of an evicted pod', async () => {
  const pod = aLocalPod(FIELDS);
  const testbed = await startEvicted(pod);

  const pass = await syncOnce(newProcess(testbed).createSyncer(pod), signal);

  const message = 'Usage of EmptyDir volume "data" exceeds the limit "1Mi". ';
  expect(pass).toMatchObject({status: {phase: 'Failed', reason: 'Evicted', message}, results: []});
  expect(testbed.runtime.calls.filter(({method}) => /Run|Create|Start|Stop/.test(method))).toEqual([]);
  expect(evaluateWait(pod, pass, {wait: 'complete', retry: false})).toMatchObject({
    kind: 'complete',
    problem: `Evicted: ${message.trim()}`,
  });
});

test('the next process starts an evicted static pod again', async () => {
  const pod = aLocalPod(FIELDS);
  const testbed = await startEvicted(pod);
  const annotations = {...pod.metadata.annotations, 'kubernetes.io/config.source': 'file'};
  const staticPod = {...pod, metadata: {...pod.metadata, annotations}};

  const {status} = await syncOnce(newProcess(testbed).createSyncer(staticPod), signal);

  expect(status).toMatchObject({phase: 'Running'});
  expect(status.reason).toBeUndefined();
});
