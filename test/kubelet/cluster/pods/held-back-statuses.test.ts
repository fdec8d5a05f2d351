import {expect, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import {SILENT_LOGGER} from '../../../../src/base/logger.js';
import {podUid, type PodUid} from '../../../../src/cri/index.js';
import type {ApiClient} from '../../../../src/kube-api/index.js';
import type {ClusterHost, ClusterPodState} from '../../../../src/kubelet/contract/cluster/cluster-link.js';
import {ApiStatusManager} from '../../../../src/kubelet/cluster/pods/api-status-manager.js';
import {StartGate} from '../../../../src/kubelet/cluster/start-gate.js';
import {aPod} from '../../../fakes/a-pod.js';
import {FakeClock} from '../../../fakes/fake-clock.js';
import {FakeStarts} from '../fake-starts.js';

interface SentStatus {
  readonly pod: string;
  readonly phase: string | undefined;
}

/** A status manager beside pods that wait for their turn to start; records the phases that it sends. */
function startManager() {
  const clock = new FakeClock();
  const starts = new FakeStarts();
  const states = new Map<PodUid, ClusterPodState>();
  const sent: SentStatus[] = [];
  const request = async ({
    method,
    path,
    body,
  }: {
    method: string;
    path: string;
    body?: object;
  }): Promise<unknown> => {
    const name = path.split('/')[6] ?? '';
    if (method === 'PATCH') sent.push({pod: name, phase: (body as {status: {phase?: string}}).status.phase});
    return podNamed(name);
  };
  const client = {request} as unknown as ApiClient;
  const manager = new ApiStatusManager({client, clock, logger: SILENT_LOGGER});
  const host = {podState: (uid: PodUid) => states.get(uid), podUids: () => [...states.keys()]};
  const controller = new AbortController();
  const ended = manager.run(host as unknown as ClusterHost, new StartGate(starts, clock), controller.signal);
  return {
    ...{clock, starts, sent, manager},
    /** Sets the phase of a pod on the node. */
    set: async (name: string, phase: 'Pending' | 'Running', metadata: Partial<Pod['metadata']> = {}) => {
      const pod = podNamed(name);
      states.set(uidOf(name), {
        pod: {...pod, metadata: {...pod.metadata, ...metadata}},
        status: {phase},
        couldHaveRunningContainers: true,
        isFinished: false,
      });
      manager.podChanged(uidOf(name));
      await clock.advance(0);
    },
    [Symbol.asyncDispose]: async () => {
      controller.abort();
      await ended;
    },
  };
}

const uidOf = (name: string): PodUid => podUid(`uid-of-${name}`);

const podNamed = (name: string): Pod => ({...aPod(), metadata: {...aPod().metadata, name, uid: uidOf(name)}});

test('while pods wait for their turn, the statuses of pods that are still to start wait too, and coalesce', async () => {
  await using testbed = startManager();
  const {starts, set, sent, clock} = testbed;
  await set('a', 'Pending');
  starts.begin();
  await set('b', 'Pending');
  await set('c', 'Pending');
  await set('b', 'Running');
  expect(sent).toEqual([
    {pod: 'a', phase: 'Pending'},
    {pod: 'b', phase: 'Running'},
  ]);
  starts.end();
  await clock.advance(0);
  expect(sent.slice(2)).toEqual([{pod: 'c', phase: 'Pending'}]);
});

test('a status waits for at most ten seconds, also when all statuses are compared meanwhile', async () => {
  await using testbed = startManager();
  const {starts, set, sent, clock} = testbed;
  await clock.advance(5000);
  starts.begin();
  await set('a', 'Pending');
  await clock.advance(9000);
  expect(sent).toEqual([]);
  await clock.advance(1000);
  expect(sent).toEqual([{pod: 'a', phase: 'Pending'}]);
});

test('the status of a pod that is being deleted does not wait', async () => {
  await using testbed = startManager();
  testbed.starts.begin();
  await testbed.set('a', 'Pending', {deletionTimestamp: '2026-05-01T12:00:00Z'});
  expect(testbed.sent).toEqual([{pod: 'a', phase: 'Pending'}]);
});

test('a caller that waits for the statuses waits for no pod that starts', async () => {
  await using testbed = startManager();
  testbed.starts.begin();
  await testbed.set('a', 'Pending');
  await testbed.manager.waitUntilTried();
  expect(testbed.sent).toEqual([{pod: 'a', phase: 'Pending'}]);
});
