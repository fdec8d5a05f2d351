import {randomUUID} from 'node:crypto';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {AsyncQueue} from '../../../src/base/async/async-queue.js';
import {systemClock} from '../../../src/base/clock.js';
import {isUnimplemented, podUid, type ContainerId} from '../../../src/cri/index.js';
import type {PodLifecycleEvent} from '../../../src/kubelet/contract/pleg.js';
import {EventedPleg} from '../../../src/kubelet/managers/pleg/evented-pleg.js';
import type {PlegNotice} from '../../../src/kubelet/managers/pleg/pleg-notice.js';
import {until} from '../../base/until.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {runPod} from '../harness/run-pod.js';
import {startPrivateRuntime, type TestRuntime} from '../harness/test-runtime.js';
import {runtimes} from '../harness/runtimes-under-test.js';

describe.each(runtimes)('the PLEG: $name', (which) => {
  const hasEvents = !which.name.startsWith('containerd 1.6');
  let runtime: TestRuntime;

  beforeAll(async () => {
    runtime = await startPrivateRuntime(which);
    await runPod(runtime.connection, {name: 'pleg-foreign'});
  });
  afterAll(async () => {
    await runtime.stop();
  });

  test('reports running pods, a killed container, and removals', async () => {
    const uid = podUid(randomUUID());
    const name = `pleg-managed-${uid}`;
    const pod = await runPod(runtime.connection, {name, labels: {'io.kubernetes.pod.uid': uid}});
    const {podSandboxId} = pod;
    const events = new AsyncQueue<PodLifecycleEvent>(1000);
    const notices: PlegNotice[] = [];
    const stop = new AbortController();
    onTestFinished(async () => {
      stop.abort();
      await runtime.connection.runtime.removePodSandbox({podSandboxId});
    });
    // With runtime events the clock stands still, so that no relist finds the changes.
    const manual = hasEvents ? new FakeClock() : undefined;
    const pleg = new EventedPleg({
      runtime: runtime.connection.runtime,
      clock: manual ?? systemClock,
      isManaged: (asked) => asked === uid,
      push: (event) => events.push(event),
      onNotice: (notice) => notices.push(notice),
      signal: stop.signal,
    });
    const ended = pleg.run();
    const next = (): Promise<PodLifecycleEvent> => events.next(AbortSignal.timeout(120_000));
    const relists = (): number => notices.filter(({kind}) => kind === 'relisted').length;
    expect(await next()).toEqual({uid, type: 'ContainerStarted', id: pod.containerId});
    expect(await next()).toEqual({uid, type: 'ContainerStarted', id: podSandboxId});
    expect(
      pleg
        .runningPods()
        .map((running) => running.name)
        .toSorted(),
    ).toEqual(['pleg-foreign', name]);

    await until(async () => {
      await manual?.advance(1000);
      return notices.some((notice) =>
        hasEvents
          ? notice.kind === 'stream-trusted'
          : notice.kind === 'stream-failed' && isUnimplemented(notice.error),
      );
    });
    await until(() => manual === undefined || (relists() >= 2 && manual.sleeping > 0));
    const before = relists();
    process.kill(await pidOf(runtime, pod.containerId), 'SIGKILL');
    expect(await next()).toEqual({uid, type: 'ContainerDied', id: pod.containerId});
    expect(pleg.cache.get(uid).containers).toMatchObject([{state: 'CONTAINER_EXITED', cri: {exitCode: 137}}]);
    if (hasEvents) expect(relists()).toBe(before);

    await runtime.connection.runtime.removePodSandbox({podSandboxId});
    const last: PodLifecycleEvent[] = [];
    await until(async () => {
      await manual?.advance(1000);
      while (events.size > 0) last.push(await next());
      return last.some(({type, id}) => type === 'ContainerRemoved' && id === podSandboxId);
    });
    expect(last).toContainEqual({uid, type: 'ContainerRemoved', id: pod.containerId});
    expect(pleg.cache.get(uid)).toMatchObject({sandboxes: [], containers: []});
    stop.abort();
    await ended;
  });
});

async function pidOf({connection}: TestRuntime, containerId: ContainerId): Promise<number> {
  const {info} = await connection.runtime.containerStatus({containerId, verbose: true});
  return (JSON.parse(info['info'] ?? '{}') as {readonly pid: number}).pid;
}
