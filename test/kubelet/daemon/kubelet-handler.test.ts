import {describe, expect, test} from 'vitest';
import {containerId, podUid} from '../../../src/cri/index.js';
import type {DesiredPod} from '../../../src/kubelet/contract/pod-update.js';
import {until} from '../../base/until.js';
import {formatRfc3339Seconds} from '../../../src/format/time.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {aContainer} from '../../fakes/a-pod.js';

import {aHandler, desired} from './handler-testbed.js';

/** Returns the pod as one of a manifest. */
function fromManifest({pod, ...others}: DesiredPod): DesiredPod {
  const annotations = {'kubernetes.io/config.source': 'file'};
  return {...others, pod: {...pod, metadata: {...pod.metadata, annotations}}};
}

const late = '2026-05-01T13:00:00Z';

describe('pod updates of a source', () => {
  test('pods are added oldest first', async () => {
    const {deliver, done} = aHandler();
    await deliver('ADD', desired('b', late), desired('a'));
    expect(done).toEqual(['create a', 'create b']);
  });

  test('a changed pod is updated, and so is a pod with a deletion timestamp', async () => {
    const {deliver, done} = aHandler();
    await deliver('ADD', desired('a'));
    await deliver('UPDATE', desired('a'));
    await deliver('DELETE', desired('a'));
    await deliver('RECONCILE', desired('a'));
    expect(done).toEqual(['create a', 'update a', 'update a']);
  });

  test('a removed pod is killed, but not before all sources have delivered their pods', async () => {
    const all = aHandler();
    await all.deliver('REMOVE', desired('a'));
    expect(all.done).toEqual(['kill a']);
    const some = aHandler({ready: false});
    await some.deliver('REMOVE', desired('a'));
    expect(some.done).toEqual([]);
  });
});

describe('a pod that does not fit on the node', () => {
  test('is reported as Failed with an event and is never started', async () => {
    const {deliver, done, events, handler, clock} = aHandler();
    const rejected = desired('c');
    await deliver('ADD', desired('a'), desired('b'), rejected);
    const message = "Node didn't have enough resource: pods, requested: 1, used: 2, capacity: 2";
    expect(done).toEqual(['create a', 'create b']);
    expect(events).toMatchObject([{type: 'Warning', reason: 'OutOfpods', message}]);
    expect(handler.getStatus(rejected)).toEqual({
      phase: 'Failed',
      reason: 'OutOfpods',
      message: `Pod was rejected: ${message}`,
      startTime: formatRfc3339Seconds(clock.now()),
      qosClass: 'BestEffort',
    });

    done.length = 0;
    handler.handlePleg({uid: rejected.uid, type: 'ContainerStarted'});
    handler.handleProbe({uid: rejected.uid, id: containerId('c1'), probe: 'liveness', status: 'unhealthy'});
    handler.handleHousekeeping();
    await deliver('REMOVE', rejected);
    expect(done).toEqual(['collect garbage']);
  });

  test('keeps its start time when it changes and is rejected again', async () => {
    const {deliver, handler, clock} = aHandler();
    const startTime = formatRfc3339Seconds(clock.now());
    const elsewhere = fromManifest(desired('c', late, {nodeSelector: {zone: 'a'}}));
    await deliver('ADD', elsewhere);
    await clock.advance(60_000);
    await deliver('UPDATE', elsewhere);
    expect(handler.getStatus(elsewhere)).toMatchObject({reason: 'NodeAffinity', startTime});
  });

  test.each([
    ['is admitted again when its manifest changes', fromManifest, ['create c']],
    ['of the API server stays rejected when it changes', (pod: DesiredPod) => pod, []],
  ])('%s', async (_title, from, created) => {
    const {deliver, done} = aHandler();
    await deliver('ADD', desired('a'), desired('b'), desired('c'));
    await deliver('REMOVE', desired('a'));
    await deliver('UPDATE', from(desired('c')));
    expect(done).toEqual(['create a', 'create b', 'kill a', ...created]);
  });

  test('runs without admission', async () => {
    const {deliver, done} = aHandler({admission: false});
    await deliver('ADD', desired('a'), desired('b'), desired('c'));
    expect(done).toEqual(['create a', 'create b', 'create c']);
  });

  test('runs when another pod is terminal or when it is already terminating', async () => {
    const terminal = aHandler({statuses: {a: {phase: 'Succeeded'}}});
    await terminal.deliver('ADD', desired('a'), desired('b'), desired('c'));
    expect(terminal.done).toContain('create c');
    const terminating = aHandler({terminating: ['c']});
    await terminating.deliver('ADD', desired('a'), desired('b'), desired('c'));
    expect(terminating.done).toContain('create c');
  });
});

test('a pod that ended before the kubelet started is not admitted again, and its status remains', async () => {
  const {deliver, done, events, handler} = aHandler();
  const {pod, ...others} = desired('a', late, {nodeSelector: {zone: 'a'}});
  const ended = {...others, pod: {...pod, status: {phase: 'Succeeded', podIP: '10.0.0.1'} as const}};
  await deliver('ADD', ended);
  expect(done).toEqual(['create a']);
  expect(events).toEqual([]);
  expect(handler.getStatus(ended)).toEqual({phase: 'Succeeded', podIP: '10.0.0.1'});
});

describe('a critical pod that does not fit on the node', () => {
  const critical = desired('c', undefined, {priority: 2_000_000_000});

  test('preempts another pod, with an event, and starts once that pod has stopped', async () => {
    const {deliver, done, events} = aHandler();
    await deliver('ADD', desired('a'), desired('b'), critical);
    expect(done).toEqual(['create a', 'create b', 'kill b', 'create c']);
    const message = 'Preempted in order to admit critical pod';
    expect(events).toMatchObject([
      {type: 'Warning', reason: 'Preempting', message, pod: {metadata: {name: 'b'}}},
    ]);
  });

  test('starts after 1.5 times the grace period of a victim that does not stop', async () => {
    const clock = new FakeClock();
    const {deliver, done, events} = aHandler({hangs: true}, clock);
    const delivery = deliver(
      'ADD',
      desired('a'),
      desired('b', undefined, {terminationGracePeriodSeconds: 30}),
      critical,
    );
    await until(() => clock.sleeping > 0);
    expect(done).not.toContain('create c');
    await clock.advance(45_000);
    await delivery;
    expect(done).toEqual(['create a', 'create b', 'kill b', 'create c']);
    expect(events.map(({reason}) => reason)).toEqual(['Preempting', 'ExceededGracePeriod']);
  });
});

test('a pod that requests extended resources starts without them, with one warning unless it is of the API server', async () => {
  const {deliver, done, events} = aHandler();
  const gpu = {requests: {'example.com/gpu': '1'}, limits: {'example.com/gpu': '1'}};
  const pod = desired('a', undefined, {containers: [aContainer({resources: gpu})]});
  await deliver('ADD', fromManifest(pod));
  expect(done).toEqual(['create a']);
  expect(events).toMatchObject([{type: 'Warning', reason: 'UnknownResource'}]);
  const restarted = aHandler({managed: ['a']});
  await restarted.deliver('ADD', fromManifest(pod));
  expect(restarted.events).toEqual([]);
  const inCluster = aHandler();
  await inCluster.deliver('ADD', pod);
  expect(inCluster.events).toEqual([]);
});

describe('an event about a container', () => {
  test('syncs the pod, and removes dead containers', async () => {
    const {deliver, done, handler} = aHandler();
    await deliver('ADD', desired('a'));
    handler.handlePleg({uid: podUid('a'), type: 'ContainerStarted'});
    handler.handlePleg({uid: podUid('a'), type: 'ContainerDied'});
    handler.handlePleg({uid: podUid('a'), type: 'ContainerRemoved'});
    expect(done).toEqual(['create a', 'sync a', 'sync a', 'remove dead of a']);
  });

  test('of a pod that no source has syncs nothing, but removes dead containers', async () => {
    const {done, handler} = aHandler();
    handler.handlePleg({uid: podUid('x'), type: 'ContainerStarted'});
    handler.handlePleg({uid: podUid('x'), type: 'ContainerDied'});
    expect(done).toEqual(['remove dead of x']);
  });

  test('of a probe is applied to the status at once, and then the pod is synced', async () => {
    const {deliver, done, handler} = aHandler();
    await deliver('ADD', desired('a'));
    handler.handleProbe({uid: podUid('a'), id: containerId('c1'), probe: 'readiness', status: 'ready'});
    expect(done).toEqual(['create a', 'a: readiness ready', 'sync a']);
  });

  test('about changed API objects refreshes all volumes and syncs all pods', async () => {
    const {deliver, done, handler} = aHandler();
    await deliver('ADD', desired('a'), desired('b'));
    done.length = 0;
    handler.handleObjectsChanged();
    expect(done).toEqual(['refresh volumes', 'sync a', 'sync b']);
  });
});

test('log messages and verbosity equal the kubelet’s', async () => {
  const {deliver, handler, logged, due} = aHandler();
  await deliver('ADD', desired('a'));
  await deliver('RECONCILE', desired('a'));
  handler.handlePleg({uid: podUid('a'), type: 'ContainerStarted'});
  handler.handlePleg({uid: podUid('x'), type: 'ContainerStarted'});
  handler.handleProbe({uid: podUid('a'), id: containerId('c1'), probe: 'liveness', status: 'unhealthy'});
  due.push(podUid('a'));
  handler.handleSync();
  handler.handleHousekeeping();
  expect(logged).toEqual([
    '2 SyncLoop ADD',
    '4 SyncLoop RECONCILE',
    '2 SyncLoop (PLEG): event for pod',
    '4 SyncLoop (PLEG): pod does not exist, ignore irrelevant event',
    '1 SyncLoop (probe)',
    '4 SyncLoop (SYNC) pods',
    '4 SyncLoop (housekeeping)',
  ]);
  const unready = aHandler({ready: false});
  unready.handler.handleHousekeeping();
  expect(unready.logged).toEqual(["4 SyncLoop (housekeeping, skipped): sources aren't ready yet"]);
});

describe('handleSync', () => {
  test('syncs pods that are due or past their active deadline', async () => {
    const startTime = '2026-05-01T12:00:00Z';
    const {deliver, done, due, clock, handler} = aHandler({statuses: {a: {startTime}}});
    await deliver('ADD', desired('a', undefined, {activeDeadlineSeconds: 30}), desired('b'));
    done.length = 0;
    handler.handleSync();
    due.push(podUid('b'));
    handler.handleSync();
    clock.elapse(30_000);
    handler.handleSync();
    expect(done).toEqual(['sync b', 'sync a']);
  });
});

describe('housekeeping', () => {
  test('does nothing before all sources have delivered their pods', async () => {
    const {done, handler} = aHandler({ready: false, managed: ['old'], running: ['old']});
    handler.handleHousekeeping();
    expect(done).toEqual([]);
  });

  test('kills running orphaned pods and removes the others', async () => {
    const {deliver, done, handler} = aHandler({
      managed: ['old', 'dead', 'a'],
      running: ['old', 'a', 'foreign'],
    });
    await deliver('ADD', desired('a'));
    done.length = 0;
    handler.handleHousekeeping();
    expect(done).toEqual(['kill running old in 1 s', 'remove dead', 'collect garbage']);
  });

  test('starts a desired pod that has no worker', async () => {
    const {deliver, done, handler} = aHandler({terminating: ['a']});
    await deliver('RECONCILE', desired('a', undefined, {containers: [aContainer()]}));
    handler.handleHousekeeping();
    expect(done).toEqual(['create a', 'collect garbage']);
  });

  test('runs container GC once a minute', async () => {
    const {done, clock, handler} = aHandler();
    for (let second = 0; second < 122; second += 2) {
      handler.handleHousekeeping();
      await new Promise((resolve) => setImmediate(resolve)); // the collection ends
      clock.elapse(2000);
    }
    expect(done).toEqual(['collect garbage', 'collect garbage', 'collect garbage']);
  });
});
