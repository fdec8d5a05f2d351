import {expect, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import {podUid} from '../../../../src/cri/index.js';
import {PodLocks} from '../../../../src/kubelet/pods/registry/pod-locks.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

const REF = {namespace: 'default', name: 'web', uid: podUid('uid-1')};

test('work of one process on pods of one name runs one after the other, also after a failure', async () => {
  const observer = {waitingForLock: () => undefined};
  const locks = new PodLocks({rootDir: await temporaryDirectory(), clock: systemClock, observer});
  const done: string[] = [];
  const work = (name: string) => async () => {
    done.push(`${name} starts`);
    await new Promise((resolve) => setImmediate(resolve));
    done.push(`${name} ends`);
    if (name === 'fails') throw new Error(name);
    return name;
  };
  const results = await Promise.allSettled(
    ['first', 'fails', 'last'].map((name) =>
      locks.tryWithPodLock({...REF, uid: podUid(`uid of ${name}`)}, work(name)),
    ),
  );
  expect(results.map(({status}) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(done).toEqual(['first', 'fails', 'last'].flatMap((name) => [`${name} starts`, `${name} ends`]));
});
