import {expect, test} from 'vitest';
import type {PodFilesystem} from '../../../../src/kubelet/contract/pod-filesystem.js';
import {aLocalPod, startRegistryTestbed, type RegistryTestbed} from '../registry-testbed.js';
import {syncOnce} from '../sync-once.js';

const signal = new AbortController().signal;
const BUG = new TypeError('a bug');
const fail = async (): Promise<never> => {
  await Promise.resolve();
  throw BUG;
};

/** Expects that a sync rejects with the bug, and that no event presents it as a failure of the pod. */
async function expectBug({pods, events}: RegistryTestbed, pod = aLocalPod()): Promise<void> {
  await expect(syncOnce(pods.createSyncer(pod), signal)).rejects.toThrow(BUG);
  expect(events.filter(({message}) => message.includes(BUG.message))).toEqual([]);
}

test.each(['makePodCgroup', 'makePodDirs', 'mountVolumes', 'makeLogDirectory', 'prepareContainer'] as const)(
  'a programming error in %s of the file system rejects the sync',
  async (method) => {
    const files = (real: PodFilesystem): PodFilesystem => Object.assign(real, {[method]: fail});
    await expectBug(await startRegistryTestbed({}, files));
  },
);

test.each(['runPodSandbox', 'podSandboxStatus', 'createContainer', 'startContainer'] as const)(
  'a programming error in %s of the runtime rejects the sync',
  async (method) => {
    const testbed = await startRegistryTestbed();
    Object.assign(testbed.connection.runtime, {[method]: fail});
    await expectBug(testbed);
  },
);

test.each(['imageStatus', 'pullImage'] as const)(
  'a programming error in %s of the image service rejects the sync',
  async (method) => {
    const testbed = await startRegistryTestbed();
    Object.assign(testbed.connection.images, {[method]: fail});
    await expectBug(testbed, aLocalPod({containers: [{name: 'main', image: 'localhost:5000/new:1'}]}));
  },
);
