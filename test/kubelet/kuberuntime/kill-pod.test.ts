import {describe, expect, test} from 'vitest';
import type {Container, Pod} from '../../../src/api/v1.js';
import {containerId} from '../../../src/cri/index.js';
import type {RuntimePodStatus} from '../../../src/kubelet/container/pod-status.js';
import {killContainer} from '../../../src/kubelet/kuberuntime/kill-container.js';
import {killPod} from '../../../src/kubelet/kuberuntime/kill-pod.js';
import {containerAnnotations} from '../../../src/kubelet/kuberuntime/labels.js';
import {terminationPrerequisites} from '../../../src/kubelet/kuberuntime/termination-order.js';
import {aContainer, aPod, aStatus, anInstance} from './builders.js';
import {gone, Ground, preStop} from './kill-ground.js';

const RUNNING = 'CONTAINER_RUNNING';
describe('a container that is killed', () => {
  test('is stopped with its grace period, and that is told', async () => {
    const ground = new Ground();

    expect(await ground.kill({}, 0)).toEqual({action: 'KillContainer', target: 'main'});
    expect(ground.log).toEqual([
      '0: Killing Stopping container main [spec.containers{main}]',
      '0: stop c1 within 10 s',
      '0: c1 ended',
    ]);
  });

  test('is told of with the words of whoever kills it', async () => {
    const ground = new Ground();

    await ground.kill({}, 0, {message: 'Container main failed liveness probe'});

    expect(ground.log[0]).toBe('0: Killing Container main failed liveness probe [spec.containers{main}]');
  });

  test('has as long as its probe gives it', async () => {
    const livenessProbe = {exec: {command: ['x']}, terminationGracePeriodSeconds: 4};
    const ground = new Ground();

    const pod = aPod({containers: [aContainer({livenessProbe})]});
    await killContainer(ground.context, pod, {id: containerId('c1'), name: 'main', reason: 'LivenessProbe'});

    expect(ground.log).toContain('0: stop c1 within 4 s');
  });

  test.each([
    [1, '0: stop c1 within 2 s'],
    [60, '0: stop c1 within 60 s'],
  ])('with %i s instead of its own is stopped so: %s', async (gracePeriodSeconds, expected) => {
    const ground = new Ground();

    await ground.kill({}, 0, {gracePeriodSeconds});

    expect(ground.log).toContain(expected);
  });

  test('is not there any more, which is as good', async () => {
    const ground = new Ground();
    ground.stops.set('c1', gone('NOT_FOUND'));

    expect((await ground.kill({}, 0)).failure).toBeUndefined();
  });

  test('can’t be stopped, which is a result', async () => {
    const ground = new Ground();
    ground.stops.set('c1', gone('UNKNOWN'));

    expect((await ground.kill({}, 0)).failure).toMatchObject({reason: 'KillContainerError'});
  });
});

describe('a preStop hook', () => {
  test('is run before, and its whole seconds are taken from the grace period', async () => {
    const ground = new Ground();
    ground.hookTakes.set('main', 3700);

    await ground.kill(preStop, 4);

    expect(ground.log.slice(1)).toEqual(['0: hook of main', '3.7: stop c1 within 7 s', '3.7: c1 ended']);
    expect(ground.hooks).toMatchObject([
      {containerId: 'c1', handler: preStop.preStop, sandboxIps: ['10.0.0.9'], container: {name: 'main'}},
    ]);
  });

  test('that fails is told of, and does not hold the end up', async () => {
    const ground = new Ground();
    ground.hookFails.add('main');

    await ground.kill(preStop, 0);

    expect(ground.log.slice(1)).toEqual([
      '0: hook of main',
      '0: FailedPreStopHook PreStopHook failed [spec.containers{main}]',
      '0: stop c1 within 10 s',
      '0: c1 ended',
    ]);
  });

  test.each([
    ['by itself when the container has ended', 11_500, '11.5'],
    ['a second after the container', 60_000, '12'],
  ])('that outlasts the grace period goes on and ends %s', async (_, hookTakes, end) => {
    const ground = new Ground();
    ground.hookTakes.set('main', hookTakes);
    ground.hookFails.add('main');
    ground.stops.set('c1', 1000);

    await ground.kill(preStop, 13);

    expect(ground.log.slice(2)).toEqual([
      '10: stop c1 within 2 s',
      '11: c1 ended',
      `${end}: FailedPreStopHook PreStopHook failed [spec.containers{main}]`,
    ]);
    expect(ground.clock.sleeping).toBe(0);
  });

  test('that only slept is not said to have failed', async () => {
    const ground = new Ground();
    ground.hookTakes.set('main', 60_000);

    await ground.kill({preStop: {sleep: {seconds: 60}}}, 12);

    expect(ground.log.at(-1)).toBe('10: c1 ended');
  });

  test('is not run without a grace period', async () => {
    const ground = new Ground();

    await ground.kill(preStop, 0, {gracePeriodSeconds: 0});

    expect(ground.hooks).toEqual([]);
    expect(ground.log).toContain('0: stop c1 within 2 s');
  });

  test('has a second when that is all there is', async () => {
    const ground = new Ground();
    ground.hookTakes.set('main', 800);

    await ground.kill(preStop, 1, {gracePeriodSeconds: 1});

    expect(ground.log.slice(1)).toEqual(['0: hook of main', '0.8: stop c1 within 2 s', '0.8: c1 ended']);
  });

  test('is given up with the wait for it', async () => {
    const ground = new Ground();
    ground.hookTakes.set('main', 5000);
    const killing = ground.start(preStop);
    const reason = new Error('interrupted');

    ground.abort.abort(reason);

    await expect(killing).rejects.toBe(reason);
    expect(ground.log.at(-1)).toBe('0: hook of main');
  });

  test.each([true, false])(
    'of a container that the manifest doesn’t have comes from its annotations: %s',
    async (has) => {
      const ground = new Ground();
      const instance = anInstance('old', RUNNING);
      const annotations = has ? containerAnnotations(aPod(), aContainer({lifecycle: preStop}), 0) : {};
      const status = aStatus([{...instance, cri: {...instance.cri, annotations}}]);

      await killPod(ground.context, {...aPod(), spec: {containers: []}}, status);

      expect(ground.hooks).toMatchObject(has ? [{container: {name: 'old'}, handler: preStop.preStop}] : []);
      expect(ground.log).toContain('0: stop old-0 within 2 s');
    },
  );
});

/** A sidecar of that name. */
function aSidecar(name: string, fields: Partial<Container> = {}): Container {
  return aContainer({name, restartPolicy: 'Always', ...fields});
}

test('sidecars wait for the containers and for the next sidecar; nobody else waits', () => {
  const pod = aPod({
    initContainers: [aSidecar('s1'), aContainer({name: 'init'}), aSidecar('s2'), aSidecar('s3')],
    containers: [aContainer({name: 'a'}), aContainer({name: 'b'})],
  });

  expect(terminationPrerequisites(pod)).toEqual(
    new Map([
      ['s1', ['a', 'b', 's2']],
      ['s2', ['a', 'b', 's3']],
      ['s3', ['a', 'b']],
    ]),
  );
});

interface Ending {
  readonly pod?: Pod;
  readonly status?: RuntimePodStatus;
  readonly grace?: number;
}

describe('a pod that is killed', () => {
  const withSidecars: Pod = aPod({
    initContainers: [aSidecar('s1', {lifecycle: preStop}), aSidecar('s2', {lifecycle: preStop})],
    containers: [aContainer({lifecycle: preStop})],
    terminationGracePeriodSeconds: 10,
  });
  const allRun = aStatus(['main', 's1', 's2'].map((name) => anInstance(name, RUNNING)));

  async function end(
    ground: Ground,
    seconds: number,
    {pod = withSidecars, status = allRun, grace}: Ending = {},
  ) {
    const killing = killPod(ground.context, pod, status, grace);
    await ground.seconds(seconds);
    return await killing;
  }

  const withoutEvents = ({log}: Ground) => log.filter((line) => !line.includes('Killing'));

  test('runs all hooks at once, and ends its sidecars last and in reverse', async () => {
    const ground = new Ground();
    ground.hookTakes.set('main', 1500);
    ground.stops.set('main-0', 1000);
    ground.stops.set('s2-0', 2000);

    await end(ground, 6);

    expect(withoutEvents(ground)).toEqual([
      '0: hook of main',
      '0: hook of s1',
      '0: hook of s2',
      '1.5: stop main-0 within 9 s',
      '2.5: main-0 ended',
      '2.5: stop s2-0 within 8 s',
      '4.5: s2-0 ended',
      '4.5: stop s1-0 within 6 s',
      '4.5: s1-0 ended',
      '4.5: stop sandbox-0',
    ]);
  });

  test('ends everything at once without sidecars', async () => {
    const ground = new Ground();
    const pod = aPod({
      containers: [aContainer(), aContainer({name: 'b'})],
      terminationGracePeriodSeconds: 10,
    });
    ground.stops.set('main-0', 1000);

    await end(ground, 2, {pod, status: aStatus([anInstance('main', RUNNING), anInstance('b', RUNNING)])});

    expect(withoutEvents(ground)).toEqual([
      '0: stop main-0 within 10 s',
      '0: stop b-0 within 10 s',
      '0: b-0 ended',
      '1: main-0 ended',
      '1: stop sandbox-0',
    ]);
  });

  test('does not wait for what doesn’t run', async () => {
    const ground = new Ground();
    const status = aStatus([anInstance('main', 'CONTAINER_EXITED'), anInstance('s1', RUNNING)]);

    await end(ground, 0, {status});

    expect(withoutEvents(ground)).toEqual([
      '0: hook of s1',
      '0: stop s1-0 within 10 s',
      '0: s1-0 ended',
      '0: stop sandbox-0',
    ]);
  });

  test('has its sidecars wait no longer than the grace period for what can’t be stopped', async () => {
    const ground = new Ground();
    ground.stops.set('main-0', gone('UNKNOWN'));

    const results = await end(ground, 11);

    expect(results.map(({action, failure}) => [action, failure?.reason])).toEqual([
      ['KillContainer', 'KillContainerError'],
      ['KillContainer', undefined],
      ['KillContainer', undefined],
      ['KillPodSandbox', undefined],
    ]);
    expect(ground.log).toContain('10: stop s2-0 within 2 s');
    expect(ground.log).toContain('10: stop s1-0 within 2 s');
  });

  test('takes all its time from what it is given, its hooks and its waits included', async () => {
    const ground = new Ground();
    ground.hookTakes.set('s1', 1200);
    ground.stops.set('main-0', 2500);

    await end(ground, 5, {grace: 5});

    expect(ground.log).toContain('0: stop main-0 within 5 s');
    expect(ground.log).toContain('2.5: stop s2-0 within 3 s');
    // 1.2 s for the hook and 1.3 s of waiting: a second each.
    expect(ground.log).toContain('2.5: stop s1-0 within 3 s');
  });
});
