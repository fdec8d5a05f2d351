import {describe, expect, test} from 'vitest';
import type {Lifecycle, Pod} from '../../../../../src/api/types/v1-pod.js';
import {containerId} from '../../../../../src/cri/index.js';
import {killContainer} from '../../../../../src/kubelet/managers/kuberuntime/actions/kill-container.js';
import {killPod} from '../../../../../src/kubelet/managers/kuberuntime/actions/kill-pod.js';
import {aContainer, aPod, aSandboxStatus, aStatus, anInstance, UID} from '../../../pod-builders.js';
import {criErrorWithCode, KillFixture, preStop} from './kill-fixture.js';

const RUNNING = 'CONTAINER_RUNNING';
const interrupted = new Error('interrupted');

describe('a kill that is given up', () => {
  test('ends with the reason of that, not with a failure', async () => {
    const ground = new KillFixture();
    ground.stops.set('c1', 5000);
    const killing = ground.start({});
    await ground.seconds(1);

    ground.abort.abort(interrupted);

    await expect(killing).rejects.toBe(interrupted);
    expect(ground.clock.sleeping).toBe(0);
  });

  test('gives up the hook with it, which has not failed by that', async () => {
    const ground = new KillFixture();
    ground.hookTakes.set('main', 60_000);
    ground.stops.set('c1', 5000);
    const killing = ground.start(preStop);
    const rejected = expect(killing).rejects.toBe(interrupted);
    await ground.seconds(11);

    ground.abort.abort(interrupted);

    await rejected;
    await ground.seconds(1);
    expect(ground.clock.sleeping).toBe(0);
    expect(ground.log.at(-1)).toBe('10: stop c1 within 2 s');
  });

  test('gives up the wait for sandboxes too', async () => {
    const ground = new KillFixture();
    ground.stops.set('sandbox-0', 5000);
    const killing = killPod(ground.context, aPod(), aStatus());
    await ground.seconds(1);

    ground.abort.abort(interrupted);

    await expect(killing).rejects.toBe(interrupted);
    expect(ground.clock.sleeping).toBe(0);
  });
});

test('a kill is over only when what its hook left is told', async () => {
  const ground = new KillFixture();
  ground.hookTakes.set('main', 60_000);
  const told: number[] = [];
  const killing = ground.start(preStop).then(() => told.push(ground.log.length));
  await ground.seconds(12);
  await killing;

  expect(ground.log.at(-1)).toContain('FailedPreStopHook');
  expect(told).toEqual([ground.log.length]);
});

test.each([0, 10_500])(
  'a kill that is given up after %i ms does not tell what its hook made of that',
  async (ms) => {
    const ground = new KillFixture();
    ground.stops.set('c1', 5000);
    const context = {
      ...ground.context,
      runHook: (_hook: unknown, signal: AbortSignal) =>
        new Promise<undefined>((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(new Error('cancelled'));
          });
        }),
    };
    const pod = aPod({containers: [aContainer({lifecycle: preStop})], terminationGracePeriodSeconds: 10});
    const killing = killContainer(context, pod, {id: containerId('c1'), name: 'main'});
    const rejected = expect(killing).rejects.toBe(interrupted);
    await ground.seconds(ms / 1000);

    ground.abort.abort(interrupted);

    await rejected;
    expect(ground.log).not.toContain('FailedPreStopHook PreStopHook failed [spec.containers{main}]');
  },
);

test('a kill waits for a hook that takes its time to end', async () => {
  const ground = new KillFixture();
  const log: string[] = [];
  const context = {
    ...ground.context,
    runHook: async (_hook: unknown, signal: AbortSignal): Promise<string> => {
      await ground.clock.sleep(60_000, signal).catch(() => undefined);
      await new Promise((resolve) => setImmediate(resolve));
      log.push('hook ended');
      return 'no';
    },
  };
  const pod = aPod({containers: [aContainer({lifecycle: preStop})], terminationGracePeriodSeconds: 1});
  const killing = killContainer(context, pod, {id: containerId('c1'), name: 'main'}).then(() =>
    log.push('killed'),
  );
  await ground.seconds(3);
  await killing;

  expect(log).toEqual(['hook ended', 'killed']);
});

test.each<[string, Lifecycle, number]>([
  ['a command, which has a second to end with its container', preStop, 11_000],
  ['a sleep, which ends with its container', {preStop: {sleep: {seconds: 60}}}, 10_000],
])('after a hook that is %s the kill is over', async (_title, lifecycle, expected) => {
  const ground = new KillFixture();
  ground.hookTakes.set('main', 60_000);
  let over = 0;
  const killing = ground.start(lifecycle).then(() => {
    over = ground.clock.now();
  });
  await ground.clock.advance(10_000);
  await ground.clock.advance(999);
  await ground.clock.advance(1);
  await killing;

  expect(over).toBe(expected);
});

test('a fault of a hook’s runner is no failure of the hook', async () => {
  const fault = new Error('a fault');
  const ground = new KillFixture();
  const context = {...ground.context, runHook: () => Promise.reject(fault)};
  const pod = aPod({containers: [aContainer({lifecycle: preStop})]});

  await expect(killContainer(context, pod, {id: containerId('c1'), name: 'main'})).rejects.toBe(fault);
});

test('a hook has the whole of the grace period', async () => {
  const ground = new KillFixture();
  ground.hookTakes.set('main', 60_000);
  const killing = ground.start(preStop);

  await ground.clock.advance(9_999);
  expect(ground.log.at(-1)).toBe('0: hook of main');

  await ground.clock.advance(1);
  expect(ground.log).toContain('10: stop c1 within 2 s');
  await ground.seconds(2);
  await killing;
});

test('what can’t be stopped keeps its cause', async () => {
  const cause = criErrorWithCode('UNKNOWN');
  const ground = new KillFixture();
  ground.stops.set('c1', cause);

  expect((await ground.kill({}, 0)).failure?.cause).toBe(cause);
});

describe('an init container that is killed', () => {
  const pod: Pod = aPod({
    initContainers: [aContainer({name: 'i1'}), aContainer({name: 's2', restartPolicy: 'Always'})],
    terminationGracePeriodSeconds: 10,
  });

  test.each([
    ['i1', '0: Killing Stopping container i1 [spec.initContainers{i1}]'],
    ['s2', '0: Killing Stopping container s2 [spec.initContainers{s2}]'],
    ['main', '0: Killing Stopping container main [spec.containers{main}]'],
  ])('is told of as one: %s', async (name, expected) => {
    const ground = new KillFixture();

    await killPod(ground.context, pod, aStatus([anInstance(name, RUNNING)]));

    expect(ground.log[0]).toBe(expected);
  });

  test('that runs beside sidecars waits for none of them', async () => {
    const ground = new KillFixture();
    ground.stops.set('s2-0', 1000);
    const killing = killPod(
      ground.context,
      pod,
      aStatus([anInstance('s2', RUNNING), anInstance('i1', RUNNING)]),
    );
    await ground.seconds(2);
    await killing;

    expect(ground.log).toContain('0: stop i1-0 within 10 s');
  });

  test('waits for the pod’s containers to the last of its seconds', async () => {
    const ground = new KillFixture();
    ground.stops.set('main-0', 60_000);
    const killing = killPod(
      ground.context,
      pod,
      aStatus([anInstance('main', RUNNING), anInstance('s2', RUNNING)]),
    );
    await ground.seconds(0);

    await ground.clock.advance(9_999);
    expect(ground.log).not.toContain('9.999: stop s2-0 within 2 s');

    await ground.clock.advance(1);
    expect(ground.log).toContain('10: stop s2-0 within 2 s');
    await ground.seconds(51);
    await killing;
  });
});

describe('sandboxes that are stopped', () => {
  const sandboxes = [aSandboxStatus({attempt: 1}), aSandboxStatus({attempt: 0})];
  const stopped = {action: 'KillPodSandbox', target: UID};

  test('are all of the pod’s, one after the other', async () => {
    const ground = new KillFixture();

    expect(await killPod(ground.context, aPod(), aStatus([], sandboxes))).toEqual([stopped, stopped]);
    expect(ground.log).toEqual(['0: stop sandbox-1', '0: stop sandbox-0']);
  });

  test('may be gone already, of which there is nothing to tell', async () => {
    const ground = new KillFixture();
    ground.stops.set('sandbox-1', criErrorWithCode('NOT_FOUND'));

    expect(await killPod(ground.context, aPod(), aStatus([], sandboxes))).toEqual([stopped]);
  });

  test('can fail to stop, which is a result and keeps no other from it', async () => {
    const cause = criErrorWithCode('UNKNOWN');
    const ground = new KillFixture();
    ground.stops.set('sandbox-1', cause);

    expect(await killPod(ground.context, aPod(), aStatus([], sandboxes))).toEqual([
      {...stopped, failure: {reason: 'KillPodSandboxError', message: cause.message, cause}},
      stopped,
    ]);
  });
});
