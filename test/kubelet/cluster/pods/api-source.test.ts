import {describe, expect, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import {ApiError} from '../../../../src/kube-api/api-error.js';
import type {ObjectList, WatchEvent} from '../../../../src/kube-api/list-watch.js';
import {createApiSource} from '../../../../src/kubelet/cluster/pods/api-source.js';
import {until} from '../../../base/until.js';
import {FakeListerWatcher} from '../../../fakes/fake-lister-watcher.js';
import {FakeClock} from '../../../fakes/fake-clock.js';
import {aPod} from '../../../fakes/a-pod.js';
import {runSource, type RunningSource} from '../../sources/run-source.js';

function pod(name: string, version: number): Pod {
  return aPod({}, {name, uid: name, resourceVersion: `${version}`});
}

function list(version: number, ...items: readonly Pod[]): ObjectList<Pod> {
  return {items, resourceVersion: `${version}`};
}

function event(type: 'ADDED' | 'MODIFIED' | 'DELETED', name: string, version: number): WatchEvent<Pod> {
  return {type, object: pod(name, version)};
}

interface ListWatchScene {
  readonly server: FakeListerWatcher<Pod>;
  readonly clock: FakeClock;
  readonly followed: RunningSource;
  /** Returns the names and versions of the pods: `a1 b2`. */
  readonly versions: () => string;
}

async function startScene(first: ObjectList<Pod>): Promise<ListWatchScene> {
  const server = new FakeListerWatcher<Pod>();
  server.listResults = [first];
  const clock = new FakeClock();
  const followed = runSource(
    createApiSource({pods: server, origin: 'https://api', ready: Promise.resolve(), clock, random: () => 0}),
  );
  await followed.untilNames(...first.items.map(({metadata}) => metadata.name!));
  await until(() => server.calls.length === 1);
  const versions = (): string =>
    (followed.sets.at(-1)?.pods ?? [])
      .map(({pod: {metadata}}) => `${metadata.name}${metadata.resourceVersion}`)
      .join(' ');
  return {server, clock, followed, versions};
}

describe('a watch', () => {
  test('reports added, changed and deleted pods', async () => {
    const {server, versions} = await startScene(list(5, pod('a', 3)));
    server.emit(event('ADDED', 'b', 6), event('MODIFIED', 'a', 7), event('DELETED', 'b', 8));
    await until(() => versions() === 'a7');
    expect(server.calls).toEqual(['stream ']);
  });

  test.each<[string, readonly WatchEvent<Pod>[], string]>([
    ['a duplicate event', [event('ADDED', 'b', 6), event('ADDED', 'b', 6)], 'a3 b6'],
    ['a late modification', [event('MODIFIED', 'a', 7), event('MODIFIED', 'a', 6)], 'a7'],
    ['a modification after the deletion', [event('DELETED', 'a', 7), event('MODIFIED', 'a', 6)], ''],
    ['a pod that is created again', [event('DELETED', 'a', 7), event('ADDED', 'a', 8)], 'a8'],
    ['a late deletion', [event('MODIFIED', 'a', 7), event('DELETED', 'a', 6)], 'a7'],
    ['events of pods out of order', [event('ADDED', 'b', 9), event('ADDED', 'c', 8)], 'a3 b9 c8'],
  ])('tolerates %s', async (_title, events, expected) => {
    const {server, versions} = await startScene(list(5, pod('a', 3)));
    server.emit(...events, event('ADDED', 'z', 99));
    await until(() => versions().endsWith('z99'));
    expect(versions()).toBe(`${expected} z99`.trim());
  });

  test('resumes from the newest version, also that of a bookmark', async () => {
    const {server} = await startScene(list(5));
    server.emit(event('ADDED', 'a', 9), event('ADDED', 'b', 8), 'end');
    await until(() => server.calls.length === 2);
    server.emit({type: 'BOOKMARK', resourceVersion: '20'}, 'end');
    await until(() => server.calls.length === 3);
    expect(server.calls).toEqual(['stream ', 'watch 9', 'watch 20']);
  });
});

test('a failure does not change the pods, is retried with back-off, and is reported', async () => {
  const {server, clock, followed, versions} = await startScene(list(5, pod('a', 3)));
  server.listResults = [new ApiError('etcd is down', {code: 500})];
  server.emit(new ApiError('cut', {code: 500}));
  for (const delay of [800, 1600, 3200, 6400]) {
    await until(() => clock.sleeping === 1);
    const count = server.calls.length;
    await clock.advance(delay - 1);
    expect(server.calls).toHaveLength(count);
    await clock.advance(1);
    await until(() => server.calls.length === count + 2);
  }
  expect(server.calls.slice(1, 3)).toEqual(['stream 5', 'list 5']);
  expect(versions()).toBe('a3');
  expect(followed.messages().slice(0, 2)).toEqual(['Failed to watch: cut', 'Failed to watch: etcd is down']);
});

test('no pod is read before the Node object is known', async () => {
  const server = new FakeListerWatcher<Pod>();
  let becomeReady: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => (becomeReady = resolve));
  const source = createApiSource({
    ...{pods: server, origin: 'https://api', ready},
    clock: new FakeClock(),
    random: () => 0,
  });
  const followed = runSource(source);
  await new Promise((resolve) => setImmediate(resolve));
  expect(server.calls).toEqual([]);
  becomeReady();
  await followed.untilNames();
  expect(server.calls[0]).toBe('stream ');
});
