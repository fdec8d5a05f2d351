import {expect, test} from 'vitest';
import type {PodEvent} from '../../../../src/kubelet/contract/pod-event.js';
import {ALWAYS_READY} from '../../../../src/kubelet/contract/probe-results.js';
import {NO_HISTORY} from '../../../../src/kubelet/pods/history/pod-history.js';
import {NodeManagerSet} from '../../../../src/kubelet/pods/node-managers/node-manager-set.js';
import {PodStatusManager} from '../../../../src/kubelet/pods/status/status-manager.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {aPod} from '../../../fakes/a-pod.js';
import {anInstance, aRuntimePod} from '../../../fakes/a-runtime-pod.js';

test('DeadlineExceeded is emitted with each status past the deadline, and with none before', async () => {
  const startedAt = Date.parse('2026-05-01T12:00:00Z');
  const events: PodEvent[] = [];
  let now = startedAt;
  const context = {
    probes: ALWAYS_READY,
    node: GOLDEN_NODE,
    clock: {now: () => now},
    events: (event: PodEvent) => void events.push(event),
    actuated: {current: undefined},
    nodeManagers: new NodeManagerSet([]),
  } as unknown as ConstructorParameters<typeof PodStatusManager>[0];
  const manager = new PodStatusManager(context, NO_HISTORY, 'containerd');
  const pod = aPod({activeDeadlineSeconds: 5});
  const runtime = aRuntimePod([anInstance('main', 'CONTAINER_RUNNING')]);
  const update = async () => (await manager.updateStatus(pod, runtime, {enforcesDeadline: true})).phase;

  expect(await update()).toBe('Running');
  now = startedAt + 4999;
  expect(await update()).toBe('Running');
  expect(events).toEqual([]);
  now = startedAt + 5000;
  expect(await update()).toBe('Failed');
  expect(await update()).toBe('Failed');
  const message = 'Pod was active on the node longer than the specified deadline';
  const event = {type: 'Normal', reason: 'DeadlineExceeded', message, pod};
  expect(events).toEqual([event, event]);
  await manager.updateStatus(pod, runtime, {enforcesDeadline: false});
  expect(events).toHaveLength(2);
});

test('a mirror pod that arrives before the first status is computed is what it continues from', async () => {
  const context = {
    ...{probes: ALWAYS_READY, node: GOLDEN_NODE, clock: {now: () => Date.parse('2026-05-01T12:00:00Z')}},
    ...{events: () => undefined, actuated: {current: undefined}, nodeManagers: new NodeManagerSet([])},
  } as unknown as ConstructorParameters<typeof PodStatusManager>[0];
  const volumeMounts = [{name: 'data', mountPath: '/data'}];
  const pod = aPod({
    containers: [{name: 'main', image: 'busybox', volumeMounts}],
    volumes: [{name: 'data', emptyDir: {}}],
  });
  const runtime = aRuntimePod([anInstance('main', 'CONTAINER_RUNNING')]);
  const update = async (manager: PodStatusManager) =>
    await manager.updateStatus(pod, runtime, {enforcesDeadline: false});
  const computed = await update(new PodStatusManager(context, NO_HISTORY, 'containerd'));
  const [main] = computed.containerStatuses ?? [];
  expect(main?.volumeMounts).toEqual(volumeMounts);
  const before = [{...main!, volumeMounts: [{name: 'data', mountPath: '/before'}]}];

  const manager = new PodStatusManager(context, NO_HISTORY, 'containerd');
  await manager.load(pod);
  manager.restoreMirror(pod, {...computed, containerStatuses: before});
  expect((await update(manager)).containerStatuses).toEqual(before);
});
