import {afterEach, beforeEach, expect, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import {systemClock} from '../../../../src/base/clock.js';
import {readNode, type NodeAndRuntime} from '../../../../src/kubelet/pods/registry/read-node.js';
import {RuntimePodReader} from '../../../../src/kubelet/pods/runtime-pods/runtime-pod-reader.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {
  runContainer,
  startConnectedFakeRuntime,
  type ConnectedFakeRuntime,
} from '../../../fakes/connected-fake-runtime.js';

const {signal} = new AbortController();
let runtime: ConnectedFakeRuntime;
let node: NodeAndRuntime;
let reader: RuntimePodReader;

beforeEach(async () => {
  runtime = await startConnectedFakeRuntime();
  const options = {rootDir: await temporaryDirectory(), nodeName: 'n1'};
  node = await readNode(runtime.connection, options, {clock: systemClock, signal});
  reader = new RuntimePodReader();
});

afterEach(async () => {
  await runtime[Symbol.asyncDispose]();
});

/** Returns the pods of the runtime, and the status requests that this took. */
async function observe(): Promise<{readonly pods: readonly Pod[]; readonly requests: readonly string[]}> {
  const listed = await reader.list(runtime.connection.runtime, signal);
  runtime.fake.clearCalls();
  const pods = await reader.observe(node, listed, signal);
  return {pods, requests: runtime.fake.calls.map(({method}) => method)};
}

test('of pods that have not changed nothing is read again', async () => {
  await runContainer(runtime);
  const first = await observe();
  expect(first.requests).toEqual(['PodSandboxStatus', 'ContainerStatus']);
  const second = await observe();
  expect(second.requests).toEqual([]);
  expect(second.pods).toEqual(first.pods);
});

test('of a pod with a container in another state only that container is read again', async () => {
  const {containerId} = await runContainer(runtime);
  await observe();
  await runtime.connection.runtime.stopContainer({containerId, timeout: 0n});
  const {pods, requests} = await observe();
  expect(requests).toEqual(['ContainerStatus']);
  expect(pods[0]?.status?.containerStatuses?.[0]?.state).toHaveProperty('terminated');
});

test('a pod that was gone is read as a new one', async () => {
  await runContainer(runtime);
  const listed = await reader.list(runtime.connection.runtime, signal);
  await reader.observe(node, listed, signal);
  expect(await reader.observe(node, [], signal)).toEqual([]);
  expect((await observe()).requests).toEqual(['PodSandboxStatus', 'ContainerStatus']);
});

test('an object that is removed between list and status is left out, and read again if it is still listed', async () => {
  const {containerId} = await runContainer(runtime);
  const listed = await reader.list(runtime.connection.runtime, signal);
  runtime.fake.injectError('ContainerStatus', {code: 'NOT_FOUND', message: 'gone', times: 1});
  const [pod] = await reader.observe(node, listed, signal);
  expect(pod?.spec.containers).toEqual([]);
  const [again] = (await observe()).pods;
  expect(again?.status?.containerStatuses?.[0]?.containerID).toContain(containerId);
});
