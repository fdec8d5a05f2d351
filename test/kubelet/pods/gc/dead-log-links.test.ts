import {expect, test} from 'vitest';
import {CriError, type ContainerStatus} from '../../../../src/cri/index.js';
import type {DeadLogLink} from '../../../../src/kubelet/managers/pod-filesystem/container-log-links.js';
import {DeadLogLinks} from '../../../../src/kubelet/pods/gc/dead-log-links.js';
import {fakeLogger} from '../../../base/fake-logger.js';

type Answer = ContainerStatus['state'] | CriError;

const CALL = {method: 'ContainerStatus', endpoint: 'unix:///run/fake.sock'};
const NOT_FOUND = new CriError({...CALL, grpcCode: 'NOT_FOUND', details: 'no such container'});
const UNAVAILABLE = new CriError({...CALL, grpcCode: 'UNAVAILABLE', details: 'connection refused'});

function aLink(fields: Partial<DeadLogLink> = {}): DeadLogLink {
  return {
    name: 'web_shop_main-abcdef.log',
    containerId: 'abcdef',
    podUid: 'own',
    hasPodLogs: true,
    ...fields,
  };
}

/** Returns what a round removes and logs. */
async function collect(links: readonly DeadLogLink[], answer: Answer, failure?: Error) {
  const [removed, asked, errors]: [string[], string[], string[]] = [[], [], []];
  await new DeadLogLinks({
    links: {
      listDead: async () => links,
      removeDead: async ({name}) => {
        if (failure !== undefined) throw failure;
        removed.push(name);
      },
    },
    runtime: {
      containerStatus: async (request) => {
        asked.push(request?.containerId ?? '');
        if (answer instanceof CriError) throw answer;
        return {status: {state: answer} as ContainerStatus, info: {}};
      },
    },
    isOwn: (uid) => uid === 'own',
    logger: fakeLogger({
      info: () => undefined,
      error: (error, message) => void errors.push(`${message}: ${String(error)}`),
    }),
  }).collect();
  return {removed: removed.length, asked, errors};
}

test.each<[string, Partial<DeadLogLink>, Answer, number]>([
  ['of a container that has exited is removed', {}, 'CONTAINER_EXITED', 1],
  ['of a container that is gone is removed', {}, NOT_FOUND, 1],
  ['of a running container, whose log is being rotated, stays', {}, 'CONTAINER_RUNNING', 0],
  ['of a container in an unknown state stays', {}, 'CONTAINER_UNKNOWN', 0],
  ['of a container of another kubelet stays', {podUid: 'other'}, NOT_FOUND, 0],
  ['of a pod of another kubelet without logs is removed', {podUid: 'other', hasPodLogs: false}, NOT_FOUND, 1],
])('a dead link %s', async (_, fields, answer, removed) => {
  expect(await collect([aLink(fields)], answer)).toMatchObject({removed, errors: []});
});

test('the runtime is not asked for a container whose ID is not in the name', async () => {
  const {removed, asked} = await collect([aLink({containerId: undefined})], UNAVAILABLE);
  expect({removed, asked}).toEqual({removed: 1, asked: []});
});

test('links stay while the runtime does not answer', async () => {
  const {removed, asked, errors} = await collect([aLink(), aLink()], UNAVAILABLE);
  expect({removed, asked}).toEqual({removed: 0, asked: ['abcdef', 'abcdef']});
  expect(errors[0]).toContain('Failed to remove container log dead symlink: ');
  expect(errors[0]).toContain('connection refused');
});

test('a link that cannot be removed does not keep the others', async () => {
  const {errors} = await collect([aLink(), aLink()], 'CONTAINER_EXITED', new Error('read-only'));
  expect(errors).toEqual(Array(2).fill('Failed to remove container log dead symlink: read-only'));
});
