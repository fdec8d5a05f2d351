import {describe, expect, test} from 'vitest';
import type {Pod} from '../../../src/api/v1.js';
import {ApiStatusError, type ObjectList, type WatchEvent} from '../../../src/kubelet/config/list-watch.js';
import {ListWatchSource} from '../../../src/kubelet/config/list-watch-source.js';
import {until} from '../../base/until.js';
import {FakeListerWatcher} from '../../fakes/lister-watcher.js';
import {ManualClock} from '../../streaming/manual-clock.js';
import {aPod} from '../kuberuntime/builders.js';
import {follow, type Followed} from './sources.js';

function pod(name: string, version: number): Pod {
  return aPod({}, {name, uid: name, resourceVersion: `${version}`});
}

function list(version: number, ...items: readonly Pod[]): ObjectList<Pod> {
  return {items, resourceVersion: `${version}`};
}

function event(type: 'ADDED' | 'MODIFIED' | 'DELETED', name: string, version: number): WatchEvent<Pod> {
  return {type, object: pod(name, version)};
}

interface Scene {
  readonly server: FakeListerWatcher<Pod>;
  readonly clock: ManualClock;
  readonly followed: Followed;
  /** `a1 b2`: the pods with their versions. */
  readonly shown: () => string;
}

async function aScene(first: ObjectList<Pod>, resyncPeriodMs?: number): Promise<Scene> {
  const server = new FakeListerWatcher<Pod>();
  server.lists = [first];
  const clock = new ManualClock();
  const followed = follow(
    new ListWatchSource({pods: server, origin: 'https://api', resyncPeriodMs, clock, random: () => 0}),
  );
  await followed.untilNames(...first.items.map(({metadata}) => metadata.name!));
  await until(() => server.calls.length === 2);
  const shown = (): string =>
    (followed.sets.at(-1)?.pods ?? [])
      .map(({pod: {metadata}}) => `${metadata.name}${metadata.resourceVersion}`)
      .join(' ');
  return {server, clock, followed, shown};
}

describe('a watch', () => {
  test('tells of pods that come, change and go', async () => {
    const {server, shown} = await aScene(list(5, pod('a', 3)));
    server.tell(event('ADDED', 'b', 6), event('MODIFIED', 'a', 7), event('DELETED', 'b', 8));
    await until(() => shown() === 'a7');
    expect(server.calls).toEqual(['list 0', 'watch 5']);
  });

  test.each<[string, readonly WatchEvent<Pod>[], string]>([
    ['twice', [event('ADDED', 'b', 6), event('ADDED', 'b', 6)], 'a3 b6'],
    ['late', [event('MODIFIED', 'a', 7), event('MODIFIED', 'a', 6)], 'a7'],
    ['after it is gone', [event('DELETED', 'a', 7), event('MODIFIED', 'a', 6)], ''],
    ['when it is made again', [event('DELETED', 'a', 7), event('ADDED', 'a', 8)], 'a8'],
    ['of its end late', [event('MODIFIED', 'a', 7), event('DELETED', 'a', 6)], 'a7'],
    ['of another first', [event('ADDED', 'b', 9), event('ADDED', 'c', 8)], 'a3 b9 c8'],
  ])('may tell of a pod %s', async (_title, events, expected) => {
    const {server, shown} = await aScene(list(5, pod('a', 3)));
    server.tell(...events, event('ADDED', 'z', 99));
    await until(() => shown().endsWith('z99'));
    expect(shown()).toBe(`${expected} z99`.trim());
  });

  test('that ends goes on from the newest version, also of a bookmark', async () => {
    const {server} = await aScene(list(5));
    server.tell(event('ADDED', 'a', 9), event('ADDED', 'b', 8), 'end');
    await until(() => server.calls.length === 3);
    server.tell({type: 'BOOKMARK', resourceVersion: '20'}, 'end');
    await until(() => server.calls.length === 4);
    expect(server.calls).toEqual(['list 0', 'watch 5', 'watch 9', 'watch 20']);
  });
});

describe('a new list', () => {
  test.each<[string, WatchEvent<Pod>]>([
    [
      'is asked for when the version is too old',
      {type: 'ERROR', code: 410, message: 'too old resource version'},
    ],
  ])('%s, of the newest version, and replaces all', async (_title, gone) => {
    const {server, clock, followed, shown} = await aScene(list(5, pod('a', 3), pod('b', 4)));
    server.lists = [list(30, pod('b', 4), pod('c', 29))];
    server.tell(gone);
    await until(() => clock.sleeping === 1);
    await clock.advance(800);
    await until(() => shown() === 'b4 c29');
    expect(server.calls).toEqual(['list 0', 'watch 5', 'list ', 'watch 30']);
    expect(followed.told()).toEqual([]);
  });

  test('keeps the pods while it fails, is tried ever less often, and tells why', async () => {
    const {server, clock, followed, shown} = await aScene(list(5, pod('a', 3)));
    server.lists = [new ApiStatusError(500, 'etcd is down')];
    server.tell({type: 'ERROR', code: 500, message: 'cut'});
    for (const delay of [800, 1600, 3200, 6400]) {
      await until(() => clock.sleeping === 1);
      const count = server.calls.length;
      await clock.advance(delay - 1);
      expect(server.calls).toHaveLength(count);
      await clock.advance(1);
      await until(() => server.calls.length === count + 1);
    }
    expect(shown()).toBe('a3');
    expect(followed.told().slice(0, 2)).toEqual(['Failed to watch: cut', 'Failed to watch: etcd is down']);
  });

  test('follows a watch that ends at once without a word', async () => {
    const {server, clock, followed} = await aScene(list(5));
    server.tell('end');
    await until(() => clock.sleeping === 1);
    await clock.advance(800);
    await until(() => server.calls.length === 4);
    expect(server.calls.slice(2)).toEqual(['list 5', 'watch 5']);
    expect(followed.told()).toEqual([expect.stringContaining('very short watch')]);
  });
});

test('a resync sets the same pods again', async () => {
  const {clock, followed, shown} = await aScene(list(5, pod('a', 3)), 60_000);
  await clock.advance(60_000);
  await until(() => followed.sets.length === 2);
  expect(shown()).toBe('a3');
});
