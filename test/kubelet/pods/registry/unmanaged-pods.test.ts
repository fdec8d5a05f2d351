import {expect, test} from 'vitest';
import {SystemError} from '../../../../src/base/errors.js';
import {podUid, type PodUid} from '../../../../src/cri/index.js';
import {UnmanagedPods} from '../../../../src/kubelet/pods/registry/unmanaged-pods.js';
import type {PodRecord} from '../../../../src/kubelet/pods/registry/pod-store.js';

const WEB = {uid: podUid('web-uid'), namespace: 'default', name: 'web'};

/** Returns a store of these records that remembers the UIDs read from it. */
function storeOf(records: Partial<PodRecord>[]) {
  const read: PodUid[] = [];
  return {
    read,
    records,
    uids: async () => await Promise.resolve(records.map(({uid}) => uid ?? podUid('none'))),
    get: async (uid: PodUid) => {
      read.push(uid);
      const found = records.find((record) => record.uid === uid);
      if (found?.name === undefined) throw new SystemError('the record is broken');
      return await Promise.resolve(found as PodRecord);
    },
  };
}

const HERE = 'unix:///run/here.sock';
const ELSEWHERE = {manager: 'kubelet', endpoint: 'unix:///run/elsewhere.sock'} as const;

const record = (uid: string, rest: Partial<PodRecord> = {}): Partial<PodRecord> => ({
  uid: podUid(uid),
  endpoint: HERE,
  namespace: 'default',
  name: uid,
  ...rest,
});

test.each([
  ['another name and UID', record('db'), false],
  ['the same name', record('other-uid', {name: 'web'}), true],
  ['the same name in another namespace', record('other-uid', {name: 'web', namespace: 'x'}), false],
  ['the same UID', record('web-uid', {name: 'db'}), true],
  [
    'the same name, created by an earlier daemon',
    record('other-uid', {name: 'web', manager: 'kubelet'}),
    false,
  ],
  [
    'the same name, created by a daemon on another runtime',
    record('other-uid', {name: 'web', ...ELSEWHERE}),
    true,
  ],
  [
    'the same name, removed from another runtime',
    record('other-uid', {name: 'web', ...ELSEWHERE, removedAt: 'now'}),
    false,
  ],
  ['a record that is broken', {uid: podUid('broken')}, false],
])('conflictingPod evaluates a pod with %s', async (_, other, conflicts) => {
  const found = await new UnmanagedPods(storeOf([other]), HERE).conflictingPod(WEB, () => false);
  expect(found !== undefined).toBe(conflicts);
});

test('a record is read once, a managed one never, and a deleted one does not conflict', async () => {
  const store = storeOf([record('own'), record('other-uid', {name: 'web'})]);
  const others = new UnmanagedPods(store, HERE);
  const isManaged = (uid: PodUid): boolean => uid === podUid('own');
  expect(await others.conflictingPod(WEB, isManaged)).toBeDefined();
  expect(await others.conflictingPod(WEB, isManaged)).toBeDefined();
  expect(store.read).toEqual(['other-uid']);
  store.records.pop();
  expect(await others.conflictingPod(WEB, isManaged)).toBeUndefined();
});
