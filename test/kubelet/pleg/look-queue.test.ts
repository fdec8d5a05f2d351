import {expect, test} from 'vitest';
import {podUid, type PodUid} from '../../../src/cri/index.js';
import {LookQueue} from '../../../src/kubelet/pleg/look-queue.js';
import {until} from '../../base/until.js';

const [a, b, c] = ['a', 'b', 'c'].map(podUid) as [PodUid, PodUid, PodUid];

/** A queue whose looks end when told, and what it has begun. */
function manual(limit: number) {
  const begun: PodUid[] = [];
  const ends = new Map<PodUid, (outcome: boolean | Error) => void>();
  const queue = new LookQueue(limit, (uid) => {
    begun.push(uid);
    return new Promise((resolve, reject) => {
      ends.set(uid, (outcome) => {
        if (typeof outcome === 'boolean') resolve(outcome);
        else reject(outcome);
      });
    });
  });
  const end = (uid: PodUid, outcome: boolean | Error = true): void => ends.get(uid)?.(outcome);
  return {queue, begun, end};
}

test('a thousand requests for one pod are the look that is under way and one more', async () => {
  const {queue, begun, end} = manual(4);
  const first = queue.look(a);
  await until(() => begun.length === 1);
  const others = Array.from({length: 1000}, () => queue.look(a));
  expect(begun).toEqual([a]);
  end(a, false);
  expect(await first).toBe(false);
  await until(() => begun.length === 2);
  end(a);
  expect(new Set(await Promise.all(others))).toEqual(new Set([true]));
  expect(begun).toEqual([a, a]);
  expect(queue.has(a)).toBe(false);
});

test('no more than the limit are under way, and the others come in their order', async () => {
  const {queue, begun, end} = manual(1);
  const looks = [a, b, c].map((uid) => queue.look(uid));
  await until(() => begun.length === 1);
  expect([a, b, c].map((uid) => queue.has(uid))).toEqual([true, true, true]);
  for (const uid of [a, b, c]) {
    await until(() => begun.includes(uid));
    end(uid);
  }
  await Promise.all(looks);
  expect(begun).toEqual([a, b, c]);
});

test('a pod that is being looked at holds up no other that waits behind it', async () => {
  const {queue, begun, end} = manual(2);
  void queue.look(a);
  await until(() => begun.length === 1);
  void queue.look(a);
  const other = queue.look(b);
  await until(() => begun.length === 2);
  expect(begun).toEqual([a, b]);
  end(b);
  expect(await other).toBe(true);
});

test('a look that fails tells who asked, and the next one goes on', async () => {
  const {queue, begun, end} = manual(1);
  const failing = queue.look(a);
  const next = queue.look(b);
  await until(() => begun.length === 1);
  end(a, new Error('no such runtime'));
  await expect(failing).rejects.toThrow('no such runtime');
  await until(() => begun.length === 2);
  end(b);
  expect(await next).toBe(true);
});
