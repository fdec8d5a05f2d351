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
] as const)('that a pod could not be ended at %s is told', async (rpc, text) => {
  const {pods, runtime, events} = await startRegistryTestbed();
  const syncer = pods.createSyncer(aLocalPod({metadata: {uid: 'u1'}}));
  await syncOnce(syncer, signal);
  runtime.injectError(rpc, {code: 'UNKNOWN', message: 'device "a" busy'});

  await expect(syncer.terminate(0)).rejects.toThrow('device "a" busy');

  const told = events.filter(({reason}) => reason === 'FailedKillPod');
  expect(told).toMatchObject([{type: 'Warning', pod: {metadata: {name: 'web'}}}]);
  expect(told[0]?.message.startsWith(`error killing pod: ${text}`)).toBe(true);
  expect(told[0]?.message.endsWith('device \\"a\\" busy"')).toBe(true);
});

test('nothing is told of a pod that could be ended', async () => {
  const {pods, events} = await startRegistryTestbed();
  const syncer = pods.createSyncer(aLocalPod());
  await syncOnce(syncer, signal);
  await syncer.terminate(0);
  expect(events.filter(({type}) => type === 'Warning')).toEqual([]);
});

test('nothing of a pod is removed while it runs, when that is not asked for', async () => {
  const {pods, runtime} = await startRegistryTestbed();
  const syncer = pods.createSyncer(aLocalPod());
  await syncOnce(syncer, signal);
  expect(await syncer.removeIfNotLive()).toBe(false);
  expect(runtime.callsTo('RemoveContainer')).toEqual([]);
  await syncer.terminate(0);
  expect(await syncer.removeIfNotLive()).toBe(true);
  expect(runtime.callsTo('RemovePodSandbox')).toHaveLength(1);
});

/** The pods as each process has them, which keep what is known of them between two. */
function newProcess({runtime, node}: RegistryTestbed): PodRegistry {
  const connection = connect(runtime.endpoint);
  onTestFinished(() => {
    connection.close();
  });
  const {endpoint} = runtime;
  const options = {services: connection, endpoint, node, runtimeName: 'fake', clock: systemClock};
  return openPodRegistry(options, SILENT_OBSERVER);
}

/** The ground after the pod was evicted by a process that has ended since. */
async function evicted(pod: Pod): Promise<RegistryTestbed> {
  const ground = await startRegistryTestbed();
  const syncer = newProcess(ground).createSyncer(pod);
  const {runtime} = await syncOnce(syncer, signal);
  const volumes = join(podDir(ground.node, podRef(pod).uid), 'volumes/kubernetes.io~empty-dir');
  await writeFile(join(volumes, 'data/file'), Buffer.alloc(2 * 1024 * 1024, 1));
  const eviction = await syncer.findEviction();
  const override = (status: PodStatus): PodStatus => ({...status, ...eviction});
  await syncer.syncTerminatingPod(runtime, {gracePeriodSeconds: 1, override});
  await syncer.flush();
  expect(syncer.status).toMatchObject({phase: 'Failed', reason: 'Evicted'});
  ground.runtime.clearCalls();
  return ground;
}

const FIELDS = {
  containers: [
    {name: 'main', image: BUSYBOX, command: ['sleep', '1'], volumeMounts: [{name: 'data', mountPath: '/d'}]},
  ],
  volumes: [{name: 'data', emptyDir: {sizeLimit: '1Mi'}}],
};

test('the next process only reports the status of a pod that has ended', async () => {
  const pod = aLocalPod(FIELDS);
  const ground = await evicted(pod);

  const pass = await syncOnce(newProcess(ground).createSyncer(pod), signal);

  const message = 'Usage of EmptyDir volume "data" exceeds the limit "1Mi". ';
  expect(pass).toMatchObject({status: {phase: 'Failed', reason: 'Evicted', message}, results: []});
  expect(ground.runtime.calls.filter(({method}) => /Run|Create|Start|Stop/.test(method))).toEqual([]);
  expect(evaluateWait(pod, pass, {wait: 'complete', retry: false})).toMatchObject({
    kind: 'complete',
    problem: `Evicted: ${message.trim()}`,
  });
});

test('the next process starts a static pod that has ended again', async () => {
  const pod = aLocalPod(FIELDS);
  const ground = await evicted(pod);
  const annotations = {...pod.metadata.annotations, 'kubernetes.io/config.source': 'file'};
  const isStatic = {...pod, metadata: {...pod.metadata, annotations}};

  const {status} = await syncOnce(newProcess(ground).createSyncer(isStatic), signal);

  expect(status).toMatchObject({phase: 'Running'});
  expect(status.reason).toBeUndefined();
});
