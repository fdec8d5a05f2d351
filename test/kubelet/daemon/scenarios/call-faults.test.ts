import {describe, expect, test} from 'vitest';
import {aContainerSpec, aManifest} from '../../../commands/pod-scene.js';
import {anImage, type FakeRuntime} from '../../../fakes/fake-runtime.js';
import type {Rpc} from '../../../fakes/runtime/cri-messages.js';
import {DaemonTestbed, NOTHING_LEFT} from '../daemon-testbed.js';

/** All calls that the daemon makes for a pod and for itself. */
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

/** How often in turn a call goes wrong. */
const TIMES = 2;
const FOR_EVER_MS = 1e12;
const LATE_MS = 7000;
/** In ms of the machine's time. */
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
    fake.injectDelay(rpc, FOR_EVER_MS, {times: TIMES});
  },
  'takes effect and hangs': (fake, rpc) => {
    fake.injectDelay(rpc, FOR_EVER_MS, {times: TIMES, afterEffect: true});
  },
};

/** Calls without a deadline, as a kubelet makes them: what a pod waits for then is up to who made it. */
const isEndless = (fault: string, rpc: string): boolean =>
  fault.endsWith('hangs') && ['PullImage', 'ExecSync'].includes(rpc);

const MANIFEST = aManifest({
  initContainers: [aContainerSpec('init', {command: ['true']})],
  containers: [
    aContainerSpec('main', {lifecycle: {postStart: {exec: {command: ['true']}}}}),
    aContainerSpec('app', {image: 'localhost:5000/app:1', imagePullPolicy: 'Always'}),
  ],
});

describe.each(Object.entries(FAULTS))('when a call %s', (fault, inject) => {
  test.concurrent.each(METHODS.filter((rpc) => !isEndless(fault, rpc)))(
    '%s: the pod runs, once, is healed, and goes',
    async (rpc) => {
      await using ground = await DaemonTestbed.start({
        runtime: {registry: [anImage({name: 'localhost:5000/app:1'})]},
        callTimeoutMs: CALL_TIMEOUT_MS,
      });
      inject(ground.fake, rpc);

      await ground.put('web.yaml', MANIFEST);
      await ground.until('the pod runs', () => ground.statusOf('web').ready === 2);
      const {restarts} = ground.statusOf('web');
      ground.kill('app');
      await ground.until(
        'a killed container runs again',
        () => ground.statusOf('web').restarts > restarts && ground.statusOf('web').ready === 2,
      );
      expect(ground.running.map((name) => name.replace(/\/\d+$/, ''))).toEqual([
        'web-goldennode/app',
        'web-goldennode/main',
      ]);
      await ground.remove('web.yaml');
      await ground.untilNothingIsLeft();

      expect(ground.fake.callsTo(rpc).length).toBeGreaterThan(0);
      expect(ground.mostAtOnce).toBe(1);
      expect(ground.foreignTouched).toEqual([]);
      expect(await ground.listRemains()).toEqual(NOTHING_LEFT);
    },
  );
});

test.each(['PullImage', 'ExecSync'] as const)(
  'a %s that hangs for ever holds up no other pod, and its own can be deleted',
  async (rpc) => {
    await using ground = await DaemonTestbed.start({
      runtime: {registry: [anImage({name: 'localhost:5000/app:1'})]},
    });
    ground.fake.injectDelay(rpc, FOR_EVER_MS);
    await ground.put('web.yaml', MANIFEST);
    await ground.until('it hangs', () => ground.fake.callsTo(rpc).length === 1);

    await ground.put('other.yaml', aManifest({name: 'other'}));
    await ground.until('the other pod runs', () => ground.statusOf('other').ready === 1);
    await ground.remove('web.yaml');
    await ground.until('the pod is gone', () => ground.ownContainers.length === 1);
    await ground.remove('other.yaml');
    await ground.untilNothingIsLeft();
  },
);
