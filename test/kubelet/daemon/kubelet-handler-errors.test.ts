import {describe, expect, test} from 'vitest';
import {podUid} from '../../../src/cri/index.js';
import {until} from '../../base/until.js';
import {aHandler, desired} from './handler-testbed.js';

describe('an error in the handling of one pod', () => {
  test('leaves the other pods and the loop alone, and is logged, reported and repeated', async () => {
    const failing = new Set(['a']);
    const {deliver, handler, done, events, logged, queued} = aHandler({failing});
    await deliver('ADD', desired('a'), desired('b'));
    expect(done).toEqual(['create b']);
    expect(events).toMatchObject([
      {
        type: 'Warning',
        reason: 'FailedSync',
        message: 'error handling pod: a bug',
        pod: {metadata: {name: 'a'}},
      },
    ]);
    expect(logged).toContain('error Failed to handle pod, will try again');
    handler.handleHousekeeping();
    expect(queued).toEqual(['ADD a']);
    failing.clear();
    await deliver('ADD', desired('a'));
    handler.handleHousekeeping();
    expect(done).toContain('create a');
    expect(queued).toEqual(['ADD a']);
  });

  test('keeps a pod that could not be added from being started without admission', async () => {
    const failing = new Set(['a']);
    const {deliver, handler, done, due, queued} = aHandler({failing});
    await deliver('ADD', desired('a'));
    failing.clear();
    due.push(podUid('a'));
    handler.handleSync();
    handler.handleHousekeeping();
    expect(done).toEqual(['collect garbage']);
    await deliver('UPDATE', desired('a'));
    expect(done).toContain('create a');
    handler.handleHousekeeping();
    expect(queued).toEqual(['ADD a']);
  });

  test('in a sync repeats the sync', async () => {
    const failing = new Set<string>();
    const {deliver, handler, done, due} = aHandler({failing});
    await deliver('ADD', desired('a'), desired('b'));
    failing.add('a');
    due.push(podUid('a'), podUid('b'));
    handler.handleSync();
    expect(done).toEqual(['create a', 'create b', 'sync b']);
    failing.clear();
    handler.handleHousekeeping();
    expect(done).toContain('sync a');
  });

  test('in the sync of a changed status repeats the change', async () => {
    const failing = new Set<string>();
    const {deliver, handler, queued} = aHandler({failing});
    const gated = desired('a', undefined, {readinessGates: [{conditionType: 'example.com/ready'}]});
    await deliver('ADD', gated);
    failing.add('a');
    await deliver('RECONCILE', gated);
    handler.handleHousekeeping();
    expect(queued).toEqual(['RECONCILE a']);
  });

  test('is forgotten when the source has removed the pod', async () => {
    const failing = new Set(['a']);
    const {deliver, handler, queued} = aHandler({failing});
    await deliver('ADD', desired('a'));
    failing.clear();
    await deliver('REMOVE', desired('a'));
    handler.handleHousekeeping();
    expect(queued).toEqual([]);
  });
});

test('a programming error in the work of a pod worker is reported like one of the sync loop', () => {
  const {boundary, events} = aHandler();
  const {pod} = desired('a');
  boundary.reportWork(pod, new TypeError('a bug'));
  expect(events).toEqual([
    {type: 'Warning', reason: 'FailedSync', message: 'error handling pod: a bug', pod},
  ]);
  expect(boundary.failed()).toEqual([]);
});

test('housekeeping does not wait for removals, and does not start one twice', async () => {
  const {handler, done} = aHandler({managed: ['dead'], removalHangs: true});
  handler.handleHousekeeping();
  handler.handleHousekeeping();
  await until(() => done.includes('remove dead'));
  expect(done).toEqual(['remove dead', 'collect garbage']);
});
