import {expect, test} from 'vitest';
import {podUid, type PodUid} from '../../../../src/cri/index.js';
import {InspectionQueue} from '../../../../src/kubelet/managers/pleg/inspection-queue.js';
import {until} from '../../../base/until.js';

const [a, b, c] = ['a', 'b', 'c'].map(podUid) as [PodUid, PodUid, PodUid];

/** Creates a queue whose inspections the test ends, and a list of the started inspections. */
function createManualQueue(limit: number) {
  const started: PodUid[] = [];
  const ends = new Map<PodUid, (outcome: boolean | Error) => void>();
  let marks = 0;
  const mark = (): number => (marks += 1);
  const inspectPod = (uid: PodUid): Promise<boolean> => {
    started.push(uid);
    return new Promise((resolve, reject) => {
      ends.set(uid, (outcome) => {
        if (typeof outcome === 'boolean') resolve(outcome);
        else reject(outcome);
      });
    });
  };
  const queue = new InspectionQueue({limit, mark, inspectPod});
  const end = (uid: PodUid, outcome: boolean | Error = true): void => ends.get(uid)?.(outcome);
  return {queue, started, end, mark};
}

test('a thousand requests during an inspection cause one more inspection', async () => {
  const {queue, started, end} = createManualQueue(4);
  const first = queue.inspect(a);
  await until(() => started.length === 1);
  const others = Array.from({length: 1000}, () => queue.inspect(a));
  expect(started).toEqual([a]);
  end(a, false);
  expect(await first).toBe(false);
  await until(() => started.length === 2);
  end(a);
  expect(new Set(await Promise.all(others))).toEqual(new Set([true]));
  expect(started).toEqual([a, a]);
  expect(queue.has(a)).toBe(false);
});

test('at most the limit run concurrently, and the others start in order', async () => {
  const {queue, started, end} = createManualQueue(1);
  const inspections = [a, b, c].map((uid) => queue.inspect(uid));
  await until(() => started.length === 1);
  expect([a, b, c].map((uid) => queue.has(uid))).toEqual([true, true, true]);
  for (const uid of [a, b, c]) {
    await until(() => started.includes(uid));
    end(uid);
  }
  await Promise.all(inspections);
  expect(started).toEqual([a, b, c]);
});

test('a pod that waits for its running inspection does not block others', async () => {
  const {queue, started, end} = createManualQueue(2);
  void queue.inspect(a);
  await until(() => started.length === 1);
  void queue.inspect(a);
  const other = queue.inspect(b);
  await until(() => started.length === 2);
  expect(started).toEqual([a, b]);
  end(b);
  expect(await other).toBe(true);
});

test('a failed inspection rejects its request, and the next one starts', async () => {
  const {queue, started, end} = createManualQueue(1);
  const failing = queue.inspect(a);
  const next = queue.inspect(b);
  await until(() => started.length === 1);
  end(a, new Error('no such runtime'));
  await expect(failing).rejects.toThrow('no such runtime');
  await until(() => started.length === 2);
  end(b);
  expect(await next).toBe(true);
});

test('a request for what a running inspection started after joins it', async () => {
  const {queue, started, end, mark} = createManualQueue(1);
  const before = mark();
  const first = queue.inspect(a);
  await until(() => started.length === 1);
  const joined = queue.inspect(a, before);
  const later = queue.inspect(a, mark());
  end(a);
  expect(await Promise.all([first, joined])).toEqual([true, true]);
  await until(() => started.length === 2);
  end(a, false);
  expect(await later).toBe(false);
  expect(started).toEqual([a, a]);
});
