import {expect, test} from 'vitest';
import {abortable} from '../../../../src/base/async/abortable.js';
import {podUid} from '../../../../src/cri/index.js';
import {OrphanedPods, type OrphanedPodsOptions} from '../../../../src/kubelet/pods/gc/orphaned-pods.js';
import {fakeLogger} from '../../../base/fake-logger.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

test('a removal that waits for a driver ends with the kubelet, without an error', async () => {
  const stop = new AbortController();
  const errors: string[] = [];
  let isInterrupted = false;
  const record = {uid: podUid('u1'), name: 'web', namespace: 'default'};
  const options = {
    own: {
      get: () => record,
      claim: async () => Promise.resolve(record),
      ensureSyncer: () => ({isLive: async () => Promise.resolve(false)}),
    },
    local: {
      remover: {
        removeFromNode: async (_record: unknown, _syncer: unknown, signal?: AbortSignal) => {
          isInterrupted = signal === stop.signal;
          await abortable(new Promise<void>(() => undefined), stop.signal);
        },
      },
    },
    clock: new FakeClock(),
    logger: fakeLogger({info: () => undefined, error: (_, message) => void errors.push(message)}),
    signal: stop.signal,
  } as unknown as OrphanedPodsOptions;
  const orphans = new OrphanedPods(options);
  const removal = orphans.remove(record.uid);
  expect(orphans.isRemoving(record.uid)).toBe(true);
  stop.abort();
  expect(await removal).toBe(false);
  expect(isInterrupted).toBe(true);
  expect(errors).toEqual([]);
});
