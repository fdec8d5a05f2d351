import {describe, expect, test} from 'vitest';
import type {Container, Pod} from '../../../../../src/api/types/v1-pod.js';
import {containerId} from '../../../../../src/cri/index.js';
import type {RuntimePodStatus} from '../../../../../src/kubelet/contract/runtime-pod-status.js';
import {killContainer} from '../../../../../src/kubelet/managers/kuberuntime/actions/kill-container.js';
import {killPod} from '../../../../../src/kubelet/managers/kuberuntime/actions/kill-pod.js';
import {containerAnnotations} from '../../../../../src/kubelet/managers/kuberuntime/config/labels.js';
import {terminationPrerequisites} from '../../../../../src/kubelet/managers/kuberuntime/actions/termination-order.js';
import {aContainer, aPod} from '../../../../fakes/a-pod.js';
import {anInstance, aRuntimePod} from '../../../../fakes/a-runtime-pod.js';
import {criErrorWithCode, KillFixture, preStop} from './kill-fixture.js';

const RUNNING = 'CONTAINER_RUNNING';
describe('a killed container', () => {
  test('is stopped with its grace period, and an event is emitted', async () => {
    const fixture = new KillFixture();

    expect(await fixture.kill({}, 0)).toEqual({action: 'KillContainer', target: 'main'});
    expect(fixture.log).toEqual([
      '0: Killing Stopping container main [spec.containers{main}]',
      '0: stop c1 within 10 s',
      '0: c1 ended',
    ]);
  });

  test('has an event with the message of the request', async () => {
    const fixture = new KillFixture();

    await fixture.kill({}, 0, {message: 'Container main failed liveness probe'});

    expect(fixture.log[0]).toBe('0: Killing Container main failed liveness probe [spec.containers{main}]');
  });

  test('has the grace period of its failed probe', async () => {
    const livenessProbe = {exec: {command: ['x']}, terminationGracePeriodSeconds: 4};
    const fixture = new KillFixture();

    const pod = aPod({containers: [aContainer({livenessProbe})]});
    await killContainer(fixture.context, pod, {id: containerId('c1'), name: 'main', reason: 'LivenessProbe'});

    expect(fixture.log).toContain('0: stop c1 within 4 s');
  });

  test.each([
    [1, '0: stop c1 within 2 s'],
    [60, '0: stop c1 within 60 s'],
  ])('with an override of %i s is stopped with it: %s', async (gracePeriodSeconds, expected) => {
    const fixture = new KillFixture();

    await fixture.kill({}, 0, {gracePeriodSeconds});

    expect(fixture.log).toContain(expected);
  });

  test('counts as killed if it does not exist', async () => {
    const fixture = new KillFixture();
    fixture.stops.set('c1', criErrorWithCode('NOT_FOUND'));

    expect((await fixture.kill({}, 0)).failure).toBeUndefined();
  });

  test('has a failed result if it cannot be stopped', async () => {
    const fixture = new KillFixture();
    fixture.stops.set('c1', criErrorWithCode('UNKNOWN'));

    expect((await fixture.kill({}, 0)).failure).toMatchObject({reason: 'KillContainerError'});
  });
});

describe('a preStop hook', () => {
  test('runs first, and its whole seconds are subtracted from the grace period', async () => {
    const fixture = new KillFixture();
    fixture.hookTakes.set('main', 3700);

    await fixture.kill(preStop, 4);

    expect(fixture.log.slice(1)).toEqual(['0: hook of main', '3.7: stop c1 within 7 s', '3.7: c1 ended']);
    expect(fixture.hooks).toMatchObject([
      {containerId: 'c1', handler: preStop.preStop, sandboxIps: ['10.0.0.9'], container: {name: 'main'}},
    ]);
  });

  test('that fails is reported and does not delay the stop', async () => {
    const fixture = new KillFixture();
    fixture.hookFails.add('main');

    await fixture.kill(preStop, 0);

    expect(fixture.log.slice(1)).toEqual([
      '0: hook of main',
      '0: FailedPreStopHook PreStopHook failed [spec.containers{main}]',
      '0: stop c1 within 10 s',
      '0: c1 ended',
    ]);
  });

  test.each([
    ['by itself after the container has exited', 11_500, '11.5'],
    ['a second after the container', 60_000, '12'],
  ])('that outlives the grace period continues and ends %s', async (_, hookTakes, end) => {
    const fixture = new KillFixture();
    fixture.hookTakes.set('main', hookTakes);
    fixture.hookFails.add('main');
    fixture.stops.set('c1', 1000);

    await fixture.kill(preStop, 13);

    expect(fixture.log.slice(2)).toEqual([
      '10: stop c1 within 2 s',
      '11: c1 ended',
      `${end}: FailedPreStopHook PreStopHook failed [spec.containers{main}]`,
    ]);
    expect(fixture.clock.sleeping).toBe(0);
  });

  test('that is a sleep does not fail when it is cut short', async () => {
    const fixture = new KillFixture();
    fixture.hookTakes.set('main', 60_000);

    await fixture.kill({preStop: {sleep: {seconds: 60}}}, 12);

    expect(fixture.log.at(-1)).toBe('10: c1 ended');
  });

  test('is not run without a grace period', async () => {
    const fixture = new KillFixture();

    await fixture.kill(preStop, 0, {gracePeriodSeconds: 0});

    expect(fixture.hooks).toEqual([]);
    expect(fixture.log).toContain('0: stop c1 within 2 s');
  });

  test('has one second with a grace period of one second', async () => {
    const fixture = new KillFixture();
    fixture.hookTakes.set('main', 800);

    await fixture.kill(preStop, 1, {gracePeriodSeconds: 1});

    expect(fixture.log.slice(1)).toEqual(['0: hook of main', '0.8: stop c1 within 2 s', '0.8: c1 ended']);
  });

  test('is aborted with the kill', async () => {
    const fixture = new KillFixture();
    fixture.hookTakes.set('main', 5000);
    const killing = fixture.start(preStop);
    const reason = new Error('interrupted');

    fixture.abort.abort(reason);

    await expect(killing).rejects.toBe(reason);
    expect(fixture.log.at(-1)).toBe('0: hook of main');
  });

  test.each([true, false])(
    'of a container that is not in the pod spec is restored from annotations: %s',
    async (has) => {
      const fixture = new KillFixture();
      const annotations = has ? containerAnnotations(aPod(), aContainer({lifecycle: preStop}), 0) : {};
      const status = aRuntimePod([anInstance('old', RUNNING, {annotations})]);

      await killPod(fixture.context, {...aPod(), spec: {containers: []}}, status);

      expect(fixture.hooks).toMatchObject(has ? [{container: {name: 'old'}, handler: preStop.preStop}] : []);
      expect(fixture.log).toContain('0: stop old-0 within 2 s');
    },
  );
});

/** Creates a sidecar with this name. */
function aSidecar(name: string, fields: Partial<Container> = {}): Container {
  return aContainer({name, restartPolicy: 'Always', ...fields});
}

test('only sidecars wait for other containers: for the regular ones and for the next sidecar', () => {
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

describe('a killed pod', () => {
  const withSidecars: Pod = aPod({
    initContainers: [aSidecar('s1', {lifecycle: preStop}), aSidecar('s2', {lifecycle: preStop})],
    containers: [aContainer({lifecycle: preStop})],
    terminationGracePeriodSeconds: 10,
  });
  const allRun = aRuntimePod(['main', 's1', 's2'].map((name) => anInstance(name, RUNNING)));

  async function end(
    fixture: KillFixture,
    seconds: number,
    {pod = withSidecars, status = allRun, grace}: Ending = {},
  ) {
    const killing = killPod(fixture.context, pod, status, grace);
    await fixture.seconds(seconds);
    return await killing;
  }

  const withoutEvents = ({log}: KillFixture) => log.filter((line) => !line.includes('Killing'));

  test('runs all hooks concurrently and stops its sidecars last, in reverse order', async () => {
    const fixture = new KillFixture();
    fixture.hookTakes.set('main', 1500);
    fixture.stops.set('main-0', 1000);
    fixture.stops.set('s2-0', 2000);

    await end(fixture, 6);

    expect(withoutEvents(fixture)).toEqual([
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

  test('without sidecars stops all containers concurrently', async () => {
    const fixture = new KillFixture();
    const pod = aPod({
      containers: [aContainer(), aContainer({name: 'b'})],
      terminationGracePeriodSeconds: 10,
    });
    fixture.stops.set('main-0', 1000);

    await end(fixture, 2, {
      pod,
      status: aRuntimePod([anInstance('main', RUNNING), anInstance('b', RUNNING)]),
    });

    expect(withoutEvents(fixture)).toEqual([
      '0: stop main-0 within 10 s',
      '0: stop b-0 within 10 s',
      '0: b-0 ended',
      '1: main-0 ended',
      '1: stop sandbox-0',
    ]);
  });

  test('does not wait for containers that are not running', async () => {
    const fixture = new KillFixture();
    const status = aRuntimePod([anInstance('main', 'CONTAINER_EXITED'), anInstance('s1', RUNNING)]);

    await end(fixture, 0, {status});

    expect(withoutEvents(fixture)).toEqual([
      '0: hook of s1',
      '0: stop s1-0 within 10 s',
      '0: s1-0 ended',
      '0: stop sandbox-0',
    ]);
  });

  test('lets sidecars wait at most the grace period for a container that cannot be stopped', async () => {
    const fixture = new KillFixture();
    fixture.stops.set('main-0', criErrorWithCode('UNKNOWN'));

    const results = await end(fixture, 11);

    expect(results.map(({action, failure}) => [action, failure?.reason])).toEqual([
      ['KillContainer', 'KillContainerError'],
      ['KillContainer', undefined],
      ['KillContainer', undefined],
      ['KillPodSandbox', undefined],
    ]);
    expect(fixture.log).toContain('10: stop s2-0 within 2 s');
    expect(fixture.log).toContain('10: stop s1-0 within 2 s');
  });

  test('subtracts hooks and waiting from the given grace period', async () => {
    const fixture = new KillFixture();
    fixture.hookTakes.set('s1', 1200);
    fixture.stops.set('main-0', 2500);

    await end(fixture, 5, {grace: 5});

    expect(fixture.log).toContain('0: stop main-0 within 5 s');
    expect(fixture.log).toContain('2.5: stop s2-0 within 3 s');
    // 1.2 s for the hook and 1.3 s of waiting: a second each.
    expect(fixture.log).toContain('2.5: stop s1-0 within 3 s');
  });
});
