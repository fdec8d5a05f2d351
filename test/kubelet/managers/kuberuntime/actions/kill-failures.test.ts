import {describe, expect, test} from 'vitest';
import type {Lifecycle, Pod} from '../../../../../src/api/types/v1-pod.js';
import {containerId} from '../../../../../src/cri/index.js';
import {killContainer} from '../../../../../src/kubelet/managers/kuberuntime/actions/kill-container.js';
import {killPod} from '../../../../../src/kubelet/managers/kuberuntime/actions/kill-pod.js';
import {aContainer, aPod, UID} from '../../../../fakes/a-pod.js';
import {anInstance, aRuntimePod, aSandboxStatus} from '../../../../fakes/a-runtime-pod.js';
import {criErrorWithCode, KillFixture, preStop} from './kill-fixture.js';

const RUNNING = 'CONTAINER_RUNNING';
const interrupted = new Error('interrupted');

describe('an aborted kill', () => {
  test('rejects with the abort reason, not with a failed result', async () => {
    const fixture = new KillFixture();
    fixture.stops.set('c1', 5000);
    const killing = fixture.start({});
    await fixture.seconds(1);

    fixture.abort.abort(interrupted);

    await expect(killing).rejects.toBe(interrupted);
    expect(fixture.clock.sleeping).toBe(0);
  });

  test('aborts the preStop hook without reporting it as failed', async () => {
    const fixture = new KillFixture();
    fixture.hookTakes.set('main', 60_000);
    fixture.stops.set('c1', 5000);
    const killing = fixture.start(preStop);
    const rejected = expect(killing).rejects.toBe(interrupted);
    await fixture.seconds(11);

    fixture.abort.abort(interrupted);

    await rejected;
    await fixture.seconds(1);
    expect(fixture.clock.sleeping).toBe(0);
    expect(fixture.log.at(-1)).toBe('10: stop c1 within 2 s');
  });

  test('stops waiting for sandboxes', async () => {
    const fixture = new KillFixture();
    fixture.stops.set('sandbox-0', 5000);
    const killing = killPod(fixture.context, aPod(), aRuntimePod());
    await fixture.seconds(1);

    fixture.abort.abort(interrupted);

    await expect(killing).rejects.toBe(interrupted);
    expect(fixture.clock.sleeping).toBe(0);
  });
});

test('a kill completes after the failure of its preStop hook is reported', async () => {
  const fixture = new KillFixture();
  fixture.hookTakes.set('main', 60_000);
  const logLengths: number[] = [];
  const killing = fixture.start(preStop).then(() => logLengths.push(fixture.log.length));
  await fixture.seconds(12);
  await killing;

  expect(fixture.log.at(-1)).toContain('FailedPreStopHook');
  expect(logLengths).toEqual([fixture.log.length]);
});

test.each([0, 10_500])(
  'a kill that is aborted after %i ms does not report the aborted hook as failed',
  async (ms) => {
    const fixture = new KillFixture();
    fixture.stops.set('c1', 5000);
    const context = {
      ...fixture.context,
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
    await fixture.seconds(ms / 1000);

    fixture.abort.abort(interrupted);

    await rejected;
    expect(fixture.log).not.toContain('FailedPreStopHook PreStopHook failed [spec.containers{main}]');
  },
);

test('a kill waits for its aborted preStop hook to return', async () => {
  const fixture = new KillFixture();
  const log: string[] = [];
  const context = {
    ...fixture.context,
    runHook: async (_hook: unknown, signal: AbortSignal): Promise<string> => {
      await fixture.clock.sleep(60_000, signal).catch(() => undefined);
      await new Promise((resolve) => setImmediate(resolve));
      log.push('hook ended');
      return 'no';
    },
  };
  const pod = aPod({containers: [aContainer({lifecycle: preStop})], terminationGracePeriodSeconds: 1});
  const killing = killContainer(context, pod, {id: containerId('c1'), name: 'main'}).then(() =>
    log.push('killed'),
  );
  await fixture.seconds(3);
  await killing;

  expect(log).toEqual(['hook ended', 'killed']);
});

test.each<[string, Lifecycle, number]>([
  ['an exec, which gets one second after its container exited', preStop, 11_000],
  ['a sleep, which ends with its container', {preStop: {sleep: {seconds: 60}}}, 10_000],
])('a kill with a preStop hook that is %s, completes', async (_title, lifecycle, expected) => {
  const fixture = new KillFixture();
  fixture.hookTakes.set('main', 60_000);
  let endedAt = 0;
  const killing = fixture.start(lifecycle).then(() => {
    endedAt = fixture.clock.now();
  });
  await fixture.clock.advance(10_000);
  await fixture.clock.advance(999);
  await fixture.clock.advance(1);
  await killing;

  expect(endedAt).toBe(expected);
});

test('an exception in the hook runner rejects the kill and is not a failed hook', async () => {
  const bug = new Error('a fault');
  const fixture = new KillFixture();
  const context = {...fixture.context, runHook: () => Promise.reject(bug)};
  const pod = aPod({containers: [aContainer({lifecycle: preStop})]});

  await expect(killContainer(context, pod, {id: containerId('c1'), name: 'main'})).rejects.toBe(bug);
});

test('a preStop hook may take the whole grace period', async () => {
  const fixture = new KillFixture();
  fixture.hookTakes.set('main', 60_000);
  const killing = fixture.start(preStop);

  await fixture.clock.advance(9_999);
  expect(fixture.log.at(-1)).toBe('0: hook of main');

  await fixture.clock.advance(1);
  expect(fixture.log).toContain('10: stop c1 within 2 s');
  await fixture.seconds(2);
  await killing;
});

test('the failure to stop a container has the error of the runtime as its cause', async () => {
  const cause = criErrorWithCode('UNKNOWN');
  const fixture = new KillFixture();
  fixture.stops.set('c1', cause);

  expect((await fixture.kill({}, 0)).failure?.cause).toBe(cause);
});

describe('a killed init container', () => {
  const pod: Pod = aPod({
    initContainers: [aContainer({name: 'i1'}), aContainer({name: 's2', restartPolicy: 'Always'})],
    ephemeralContainers: [aContainer({name: 'debugger'})],
    terminationGracePeriodSeconds: 10,
  });

  test.each([
    ['i1', '0: Killing Stopping container i1 [spec.initContainers{i1}]'],
    ['s2', '0: Killing Stopping container s2 [spec.initContainers{s2}]'],
    ['main', '0: Killing Stopping container main [spec.containers{main}]'],
    ['debugger', '0: Killing Stopping container debugger [spec.ephemeralContainers{debugger}]'],
  ])('has an event for its kind of container: %s', async (name, expected) => {
    const fixture = new KillFixture();

    await killPod(fixture.context, pod, aRuntimePod([anInstance(name, RUNNING)]));

    expect(fixture.log[0]).toBe(expected);
  });

  test('does not wait for sidecars that are running beside it', async () => {
    const fixture = new KillFixture();
    fixture.stops.set('s2-0', 1000);
    const killing = killPod(
      fixture.context,
      pod,
      aRuntimePod([anInstance('s2', RUNNING), anInstance('i1', RUNNING)]),
    );
    await fixture.seconds(2);
    await killing;

    expect(fixture.log).toContain('0: stop i1-0 within 10 s');
  });

  test('waits for the regular containers until the end of the grace period', async () => {
    const fixture = new KillFixture();
    fixture.stops.set('main-0', 60_000);
    const killing = killPod(
      fixture.context,
      pod,
      aRuntimePod([anInstance('main', RUNNING), anInstance('s2', RUNNING)]),
    );
    await fixture.seconds(0);

    await fixture.clock.advance(9_999);
    expect(fixture.log).not.toContain('9.999: stop s2-0 within 2 s');

    await fixture.clock.advance(1);
    expect(fixture.log).toContain('10: stop s2-0 within 2 s');
    await fixture.seconds(51);
    await killing;
  });
});

describe('the sandboxes of a killed pod', () => {
  const sandboxes = [aSandboxStatus({attempt: 1}), aSandboxStatus({attempt: 0})];
  const stopped = {action: 'KillPodSandbox', target: UID};

  test('are stopped one after the other', async () => {
    const fixture = new KillFixture();

    expect(await killPod(fixture.context, aPod(), aRuntimePod([], {sandboxes}))).toEqual([stopped, stopped]);
    expect(fixture.log).toEqual(['0: stop sandbox-1', '0: stop sandbox-0']);
  });

  test('are skipped if they do not exist', async () => {
    const fixture = new KillFixture();
    fixture.stops.set('sandbox-1', criErrorWithCode('NOT_FOUND'));

    expect(await killPod(fixture.context, aPod(), aRuntimePod([], {sandboxes}))).toEqual([stopped]);
  });

  test('that fail to stop are failed results and do not prevent the others from being stopped', async () => {
    const cause = criErrorWithCode('UNKNOWN');
    const fixture = new KillFixture();
    fixture.stops.set('sandbox-1', cause);

    expect(await killPod(fixture.context, aPod(), aRuntimePod([], {sandboxes}))).toEqual([
      {...stopped, failure: {reason: 'KillPodSandboxError', message: cause.message, cause}},
      stopped,
    ]);
  });
});
