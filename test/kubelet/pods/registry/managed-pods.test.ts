import {expect, test} from 'vitest';
import {SILENT_LOGGER} from '../../../../src/base/logger.js';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import {podUid, type PodUid} from '../../../../src/cri/index.js';
import {podRef} from '../../../../src/kubelet/contract/pod-ref.js';
import {emptyPodStatus} from '../../../../src/kubelet/contract/runtime-pod-status.js';
import {ManagedPods, type ManagedPodsOptions} from '../../../../src/kubelet/pods/registry/managed-pods.js';
import type {PodRecord} from '../../../../src/kubelet/pods/registry/pod-store.js';
import {aPod} from '../../../fakes/a-pod.js';

/** A registry whose records are listed while they are written, which ends with `release`. */
function createRegistry() {
  const listed: PodUid[] = [];
  const read: PodUid[] = [];
  let release: () => void = () => undefined;
  const written = new Promise<void>((resolve) => (release = resolve));
  const store = {
    uids: async () => await Promise.resolve([...listed]),
    get: async (uid: PodUid) => {
      read.push(uid);
      await Promise.resolve();
      return undefined;
    },
    put: async ({uid}: PodRecord) => {
      listed.push(uid);
      await written;
    },
  };
  const local = {
    store,
    locks: {tryWithPodLock: async (_: unknown, work: () => Promise<unknown>) => await work()},
    createRecord: (pod: Pod) => ({...podRef(pod), pod}),
    createSyncer: (pod: Pod) => ({pod}),
  } as unknown as ManagedPodsOptions['local'];
  return {listed, read, release, pods: new ManagedPods({local, logger: SILENT_LOGGER, originOf: () => 'a'})};
}

const adopt = async (pods: ManagedPods, name: string): Promise<unknown> => {
  const uid = podUid(`${name}-uid`);
  return await pods.adopt(aPod({}, {name, uid}), {status: emptyPodStatus(uid), isListed: false});
};

test('the records that are being written for other pods are not read', async () => {
  const {pods, listed, read, release} = createRegistry();
  const first = adopt(pods, 'first');
  await expect.poll(() => listed).toHaveLength(1);
  const second = adopt(pods, 'second');
  await expect.poll(() => listed).toHaveLength(2);
  release();
  await Promise.all([first, second]);
  expect(read).toEqual([]);
  expect(pods.presentRecords()).toHaveLength(2);
});
