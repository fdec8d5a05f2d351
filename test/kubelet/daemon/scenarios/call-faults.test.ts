import {describe, expect, test} from 'vitest';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {anImage, type FakeRuntime} from '../../../fakes/fake-runtime.js';
import type {Rpc} from '../../../fakes/runtime/cri-messages.js';
import {DaemonTestbed, NOTHING_REMAINS} from '../daemon-testbed.js';

/** All CRI calls that the daemon makes. */
const METHODS = [
  'Status',
  'ListContainers',
  'ListPodSandbox',
  'PodSandboxStatus',
  'ContainerStatus',
  'RunPodSandbox',
  'ImageStatus',
  'PullImage',
  'CreateContainer',
  'StartContainer',
  'ExecSync',
  'StopContainer',
  'StopPodSandbox',
  'RemoveContainer',
  'RemovePodSandbox',
] as const satisfies readonly Rpc[];

/** Number of consecutive calls with the fault. */
const TIMES = 2;
const FOREVER_MS = 1e12;
const LATE_MS = 7000;
/** In ms of real time. */
const CALL_TIMEOUT_MS = 400;

const FAULTS: Readonly<Record<string, (fake: FakeRuntime, rpc: Rpc) => void>> = {
  fails: (fake, rpc) => {
    fake.injectError(rpc, {code: 'UNKNOWN', message: 'some trouble', times: TIMES});
  },
  'takes effect and fails': (fake, rpc) => {
    fake.injectError(rpc, {code: 'UNAVAILABLE', message: 'connection lost', times: TIMES, afterEffect: true});
  },
  'is late': (fake, rpc) => {
    fake.injectDelay(rpc, LATE_MS, {times: TIMES});
  },
  hangs: (fake, rpc) => {
    fake.injectDelay(rpc, FOREVER_MS, {times: TIMES});
  },
  'takes effect and hangs': (fake, rpc) => {
    fake.injectDelay(rpc, FOREVER_MS, {times: TIMES, afterEffect: true});
  },
  'returns garbage': (fake, rpc) => {
    fake.injectResponse(rpc, Buffer.alloc(20, 0xff), {times: TIMES});
  },
  'takes effect and returns garbage': (fake, rpc) => {
    fake.injectResponse(rpc, Buffer.alloc(20, 0xff), {times: TIMES, afterEffect: true});
  },
  'returns an empty message': (fake, rpc) => {
    fake.injectResponse(rpc, Buffer.alloc(0), {times: TIMES});
  },
  'takes effect and returns an empty message': (fake, rpc) => {
    fake.injectResponse(rpc, Buffer.alloc(0), {times: TIMES, afterEffect: true});
  },
};

/**
 * Returns true for calls without a timeout, as in the kubelet, where a hanging call only ends with its pod.
 */
const hasNoTimeout = (fault: string, rpc: string): boolean =>
  fault.endsWith('hangs') && ['PullImage', 'ExecSync'].includes(rpc);

/** Returns true if an empty response means success: the runtime would claim an effect that it did not have. */
const isFalseSuccess = (fault: string, rpc: string): boolean =>
  fault === 'returns an empty message' && /^(Start|Stop|Remove)/.test(rpc);

const MANIFEST = aManifest({
  initContainers: [aContainerSpec('init', {command: ['true']})],
  containers: [
    aContainerSpec('main', {lifecycle: {postStart: {exec: {command: ['true']}}}}),
    aContainerSpec('app', {image: 'localhost:5000/app:1', imagePullPolicy: 'Always'}),
  ],
});

describe.each(Object.entries(FAULTS))('when a call %s', (fault, inject) => {
  test.concurrent.each(METHODS.filter((rpc) => !hasNoTimeout(fault, rpc) && !isFalseSuccess(fault, rpc)))(
    '%s: the pod starts once, is restarted after a crash, and is removed',
    async (rpc) => {
      await using testbed = await DaemonTestbed.start({
        runtime: {registry: [anImage({name: 'localhost:5000/app:1'})]},
        callTimeoutMs: CALL_TIMEOUT_MS,
      });
      inject(testbed.fake, rpc);

      await testbed.put('web.yaml', MANIFEST);
      await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 2);
      const {restarts} = testbed.statusOf('web');
      testbed.kill('app');
      await testbed.until(
        'a killed container runs again',
        () => testbed.statusOf('web').restarts > restarts && testbed.statusOf('web').ready === 2,
      );
      expect(testbed.running.map((name) => name.replace(/\/\d+$/, ''))).toEqual([
        'web-goldennode/app',
        'web-goldennode/main',
      ]);
      await testbed.remove('web.yaml');
      await testbed.untilAllRemoved();

      expect(testbed.fake.callsTo(rpc).length).toBeGreaterThan(0);
      expect(testbed.maxConcurrentInstances).toBe(1);
      expect(testbed.callsToForeignPod).toEqual([]);
      expect(await testbed.listRemains()).toEqual(NOTHING_REMAINS);
    },
  );
});

test.each(['PullImage', 'ExecSync'] as const)(
  'a %s that hangs forever does not block other pods, and its own pod can be deleted',
  async (rpc) => {
    await using testbed = await DaemonTestbed.start({
      runtime: {registry: [anImage({name: 'localhost:5000/app:1'})]},
    });
    testbed.fake.injectDelay(rpc, FOREVER_MS);
    await testbed.put('web.yaml', MANIFEST);
    await testbed.until('it hangs', () => testbed.fake.callsTo(rpc).length === 1);

    await testbed.put('other.yaml', aManifest({name: 'other'}));
    await testbed.until('the other pod runs', () => testbed.statusOf('other').ready === 1);
    await testbed.remove('web.yaml');
    await testbed.until('the pod is gone', () => testbed.ownContainers.length === 1);
    await testbed.remove('other.yaml');
    await testbed.untilAllRemoved();
  },
);
