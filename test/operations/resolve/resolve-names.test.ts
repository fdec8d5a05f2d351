import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {containerId} from '../../../src/cri/ids.js';
import {connect, type Connection} from '../../../src/cri/index.js';
import {
  resolveContainer,
  resolveContainers,
  resolveSandbox,
} from '../../../src/operations/resolve/resolve-names.js';
import type {ContainerChooser} from '../../../src/operations/resolve/resolve-options.js';
import {FakeRuntime, aContainer, aSandbox} from '../../fakes/fake-runtime.js';

const signal = new AbortController().signal;
const id = (start: string): string => start.padEnd(64, '0');

let fake: FakeRuntime;
let cri: Connection;
beforeAll(async () => {
  const web = aSandbox({id: id('aa1'), name: 'web'});
  const api = aSandbox({id: id('aa2'), name: 'api', namespace: 'prod', uid: 'uid-of-api'});
  fake = await FakeRuntime.start({
    sandboxes: [web, api],
    containers: [
      aContainer({
        id: id('c1'),
        sandbox: web,
        name: 'main',
        attempt: 0,
        state: 'CONTAINER_EXITED',
        createdAt: 1n,
      }),
      aContainer({id: id('c2'), sandbox: web, name: 'main', attempt: 1, createdAt: 2n}),
      aContainer({id: id('c3'), sandbox: web, name: 'cafe', createdAt: 3n}),
      aContainer({id: id('cafe'), sandbox: api, name: 'other', createdAt: 4n}),
      aContainer({id: id('d1'), sandbox: api, name: 'side', createdAt: 5n}),
      aContainer({id: id('d2'), sandbox: web, name: 'side', createdAt: 6n}),
    ],
  });
  cri = connect(fake.endpoint);
});
afterAll(async () => {
  cri.close();
  await fake.stop();
});

describe('resolveContainer', () => {
  test.each([
    [id('c1'), 'c1'],
    ['c1', 'c1'],
    ['caf', 'cafe'],
    ['main', 'c2'],
    ['web/main', 'c2'],
    ['default/web/main', 'c2'],
    ['api/side', 'd1'],
    ['other', 'cafe'],
  ])('%s resolves to the container %s', async (ref, start) => {
    expect(await resolveContainer(cri.runtime, ref, {signal})).toBe(id(start));
  });

  test.each([
    ['c', 'matches 4 containers'],
    ['side', 'matches 2 containers'],
    ['cafe', 'matches 2 containers'],
    ['nope', 'no such container "nope"'],
    ['', 'no such container ""'],
    ['prod/web/main', 'no such container'],
  ])('"%s" is rejected: %s', async (ref, message) => {
    await expect(resolveContainer(cri.runtime, ref, {signal})).rejects.toThrow(message);
  });

  test('an empty name, as from an unset variable, has a hint of its own', async () => {
    await expect(resolveContainer(cri.runtime, '', {signal})).rejects.toMatchObject({
      hint: 'the name is empty; check the variable that sets it',
    });
  });

  test('a name matches all attempts unless the newest is preferred', async () => {
    const resolving = resolveContainer(cri.runtime, 'main', {signal, newestAttempt: false});
    await expect(resolving).rejects.toThrow('"main" matches 2 containers');
  });

  test('full IDs need no call unless they are verified', async () => {
    fake.clearCalls();
    const [target] = await resolveContainers(cri.runtime, [id('e')], {signal});
    expect(target?.kind).toBe('found');
    expect(fake.calls).toHaveLength(0);
    const [verified] = await resolveContainers(cri.runtime, [id('e')], {signal, verify: true});
    expect(verified?.kind).toBe('missing');
  });
});

test.each([
  ['aa1', 'aa1'],
  ['web', 'aa1'],
  ['prod/api', 'aa2'],
  ['uid-of-api', 'aa2'],
  ['pod/web', 'aa1'],
  ['pods/prod/api', 'aa2'],
  ['po/aa1', 'aa1'],
])('the pod %s resolves to the sandbox %s', async (ref, start) => {
  expect(await resolveSandbox(cri.runtime, ref, {signal})).toBe(id(start));
});

test('pod/NAME is the pod for commands that choose its container, unless a pod has the name "pod"', async () => {
  const pods: string[] = [];
  const chooseContainer: ContainerChooser = async (ref, pod) => {
    pods.push(pod);
    return await Promise.resolve({kind: 'found', ref, id: containerId(id('c3'))});
  };
  expect(await resolveContainer(cri.runtime, 'pod/web', {signal, chooseContainer})).toBe(id('c3'));
  expect(pods).toEqual([id('aa1')]);
  const sandbox = aSandbox({id: id('aa9'), name: 'pod'});
  const container = aContainer({id: id('c9'), sandbox, name: 'web'});
  await using runtime = await FakeRuntime.start({
    sandboxes: [sandbox, aSandbox({id: id('aa1'), name: 'web'})],
    containers: [container],
  });
  const connection = connect(runtime.endpoint);
  expect(await resolveContainer(connection.runtime, 'pod/web', {signal, chooseContainer})).toBe(id('c9'));
  connection.close();
});
