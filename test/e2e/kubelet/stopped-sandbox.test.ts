import {randomBytes} from 'node:crypto';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {startKubeletTestbed, type KubeletTestbed, type ServingDaemon} from '../harness/kubelet-testbed.js';
import {aContainer, aManifest} from '../harness/manifests.js';
import type {RunningPodState} from '../harness/pod-testbed.js';
import {runtimes} from '../harness/runtimes-under-test.js';

const NODE = 'stopped-sandbox-node';
/** Time in ms for which kcri waits for the end of a sandbox after its containers. */
const SETTLE_MS = 1000;
/** Number of stops of which one should be faster. On a machine where none is, kcri cannot know why a container ended. */
const ROUNDS = 5;

interface ServedContainer {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
}

interface ServedPods {
  readonly items:
    | null
    | readonly {
        readonly metadata: {readonly name: string};
        readonly status?: {readonly containerStatuses?: readonly ServedContainer[]};
      }[];
}

const attemptOf = ({sandboxes}: RunningPodState): number => sandboxes[0]?.metadata?.attempt ?? 0;

describe.each(runtimes)('a sandbox stopped behind the daemon: $name', (which) => {
  let testbed: KubeletTestbed;
  let daemon: ServingDaemon;

  beforeAll(async () => {
    testbed = await startKubeletTestbed(which, NODE);
    daemon = await testbed.start();
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  const containersOf = async (name: string): Promise<readonly ServedContainer[]> => {
    const response = await fetch(`${daemon.urls.readOnly}/pods`);
    const {items} = (await response.json()) as ServedPods;
    return items?.find(({metadata}) => metadata.name === name)?.status?.containerStatuses ?? [];
  };

  const restartCounts = async (name: string): Promise<Readonly<Record<string, number>>> =>
    Object.fromEntries((await containersOf(name)).map((each) => [each.name, each.restartCount]));

  const areReady = async (name: string): Promise<boolean> => {
    const statuses = await containersOf(name);
    return statuses.length > 0 && statuses.every(({ready}) => ready);
  };

  /** Stops the sandbox and waits until the pod runs in a new one. Resolves with the duration of the stop, in ms. */
  async function stopSandbox(name: string): Promise<number> {
    const {sandboxes} = await testbed.podTestbed.pod(name);
    const startedAt = performance.now();
    const {runtime} = testbed.podTestbed.runtime.connection;
    await runtime.stopPodSandbox({podSandboxId: sandboxes[0]!.id});
    const durationMs = performance.now() - startedAt;
    await until(async () => attemptOf(await testbed.podTestbed.pod(name)) === 1 && (await areReady(name)));
    return durationMs;
  }

  test.each([
    ['one', ['main']],
    ['three', ['first', 'second', 'third']],
  ])('restarts each container once, without back-off, in pods of %s', async (count, names) => {
    const containers = names.map((each) => aContainer(each));
    for (let round = 0, isProven = false; round < ROUNDS && !isProven; round++) {
      // Pods of an earlier round or try have had more sandboxes.
      const name = `stopped-${count}-${randomBytes(4).toString('hex')}`;
      const podName = `${name}-${NODE}`;
      await testbed.put(name, aManifest(name, {containers}));
      await until(() => areReady(podName));
      // In a slower stop the containers and the sandbox do not end together, so they may restart in between.
      isProven = (await stopSandbox(podName)) < SETTLE_MS;
      const counts = await restartCounts(podName);
      const {stdout} = await testbed.podTestbed.runtime.kcri(['describe', podName]);
      expect(Object.keys(counts).toSorted()).toEqual(names);
      expect(stdout).toContain('SandboxChanged');
      if (isProven) {
        expect(counts).toEqual(Object.fromEntries(names.map((each) => [each, 1])));
        expect(stdout).not.toContain('BackOff');
      }
    }
  });
});
