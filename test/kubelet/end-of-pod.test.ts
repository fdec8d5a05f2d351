import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import type {Pod} from '../../src/api/v1.js';
import {systemClock} from '../../src/base/clock.js';
import {connect} from '../../src/cri/index.js';
import {podDir} from '../../src/kubelet/container/node.js';
import {podRef} from '../../src/kubelet/container/pod-ref.js';
import {judge} from '../../src/kubelet/foreground/judge.js';
import type {LocalPods} from '../../src/kubelet/local-pods.js';
import {SILENT_OBSERVER} from '../../src/kubelet/local-pods-options.js';
import {openLocalPods} from '../../src/kubelet/open-local-pods.js';
import {BUSYBOX} from '../fakes/fake-runtime.js';
import {aLocalPod, aPodGround, type PodGround} from './pod-ground.js';

const signal = new AbortController().signal;

test.each([
  ['StopContainer', 'failed to "KillContainer" for "main" with KillContainerError: "'],
  ['StopPodSandbox', 'failed to "KillPodSandbox" for "u1" with KillPodSandboxError: "'],
] as const)('that a pod could not be ended at %s is told', async (rpc, text) => {
  const {pods, runtime, events} = await aPodGround();
  const syncer = pods.syncer(aLocalPod({metadata: {uid: 'u1'}}));
  await syncer.sync(signal);
  runtime.injectError(rpc, {code: 'UNKNOWN', message: 'device "a" busy'});

  await expect(syncer.terminate(0)).rejects.toThrow('device "a" busy');

  const told = events.filter(({reason}) => reason === 'FailedKillPod');
  expect(told).toMatchObject([{type: 'Warning', pod: {metadata: {name: 'web'}}}]);
  expect(told[0]?.message.startsWith(`error killing pod: ${text}`)).toBe(true);
  expect(told[0]?.message.endsWith('device \\"a\\" busy"')).toBe(true);
});

test('nothing is told of a pod that could be ended', async () => {
  const {pods, events} = await aPodGround();
  const syncer = pods.syncer(aLocalPod());
  await syncer.sync(signal);
  await syncer.terminate(0);
  expect(events.filter(({type}) => type === 'Warning')).toEqual([]);
});

test('nothing of a pod is removed while it runs, when that is not asked for', async () => {
  const {pods, runtime} = await aPodGround();
  const syncer = pods.syncer(aLocalPod());
  await syncer.sync(signal);
  expect(await syncer.removeUnlessLive()).toBe(false);
  expect(runtime.callsTo('RemoveContainer')).toEqual([]);
  await syncer.terminate(0);
  expect(await syncer.removeUnlessLive()).toBe(true);
  expect(runtime.callsTo('RemovePodSandbox')).toHaveLength(1);
});

/** The pods as each process has them, which keep what is known of them between two. */
function newProcess({runtime, node}: PodGround): LocalPods {
  const connection = connect(runtime.endpoint);
  onTestFinished(() => {
    connection.close();
  });
  const {endpoint} = runtime;
  const options = {services: connection, endpoint, node, runtimeName: 'fake', clock: systemClock};
  return openLocalPods(options, SILENT_OBSERVER);
}

/** The ground after the pod was evicted by a process that has ended since. */
async function evicted(pod: Pod): Promise<PodGround> {
  const ground = await aPodGround();
  await newProcess(ground).syncer(pod).sync(signal);
  const volumes = join(podDir(ground.node, podRef(pod).uid), 'volumes/kubernetes.io~empty-dir');
  await writeFile(join(volumes, 'data/file'), Buffer.alloc(2 * 1024 * 1024, 1));
  const {status} = await newProcess(ground).syncer(pod).sync(signal);
  expect(status).toMatchObject({phase: 'Failed', reason: 'Evicted'});
  ground.runtime.clearCalls();
  return ground;
}

const FIELDS = {
  containers: [
    {name: 'main', image: BUSYBOX, command: ['sleep', '1'], volumeMounts: [{name: 'data', mountPath: '/d'}]},
  ],
  volumes: [{name: 'data', emptyDir: {sizeLimit: '1Mi'}}],
};

test('the next process does nothing with a pod that has ended but say so', async () => {
  const pod = aLocalPod(FIELDS);
  const ground = await evicted(pod);

  const pass = await newProcess(ground).syncer(pod).sync(signal);

  const message = 'Usage of EmptyDir volume "data" exceeds the limit "1Mi". ';
  expect(pass).toMatchObject({status: {phase: 'Failed', reason: 'Evicted', message}, results: []});
  expect(ground.runtime.calls.filter(({method}) => /Run|Create|Start|Stop/.test(method))).toEqual([]);
  expect(judge(pod, pass, {wait: 'complete', retry: false})).toMatchObject({
    kind: 'complete',
    problem: `Evicted: ${message.trim()}`,
  });
});

test('of a static pod nobody keeps that it has ended, so that the next process starts it again', async () => {
  const pod = aLocalPod(FIELDS);
  const ground = await evicted(pod);
  const annotations = {...pod.metadata.annotations, 'kubernetes.io/config.source': 'file'};
  const isStatic = {...pod, metadata: {...pod.metadata, annotations}};

  const {status} = await newProcess(ground).syncer(isStatic).sync(signal);

  expect(status).toMatchObject({phase: 'Running'});
  expect(status.reason).toBeUndefined();
});
