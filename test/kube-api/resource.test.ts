import {expect, test} from 'vitest';
import {ApiClient} from '../../src/kube-api/api-client.js';
import {HttpConnection} from '../../src/kube-api/http-connection.js';
import type {ListedObject, ListerWatcher, WatchEvent} from '../../src/kube-api/list-watch.js';
import {createCollection} from '../../src/kube-api/resource.js';
import {FakeApiServer} from '../fakes/api-server/fake-api-server.js';
import {FakeClock} from '../fakes/fake-clock.js';

const NEVER = new AbortController().signal;

function configMapsOf(api: FakeApiServer, fieldSelector?: string): ListerWatcher<ListedObject> {
  const credentials = {tls: {rejectUnauthorized: true}, token: undefined};
  const connection = new HttpConnection(new URL(api.url), {current: async () => credentials});
  return createCollection<ListedObject>({
    client: new ApiClient({connection, userAgent: 'kcri/1', clock: new FakeClock()}),
    path: '/api/v1/namespaces/default/configmaps',
    ...(fieldSelector !== undefined && {fieldSelector}),
    decode: (value) => value as ListedObject,
    random: () => 2 ** 31,
  });
}

function createConfigMaps(api: FakeApiServer, count: number): void {
  for (let i = 0; i < count; i += 1) api.create(`/api/v1/namespaces/default/configmaps/c${i}`, {});
}

test('a list of the newest version has pages of 500 objects', async () => {
  await using api = await FakeApiServer.start();
  createConfigMaps(api, 1200);
  const {items} = await configMapsOf(api).list('', NEVER);
  expect(new Set(items.map(({metadata}) => metadata.name)).size).toBe(1200);
  expect(api.requests.map(({query}) => query)).toEqual([
    {limit: '500', resourceVersion: ''},
    {limit: '500', continue: '500'},
    {limit: '500', continue: '1000'},
  ]);
});

test('a list without end is given up', async () => {
  await using api = await FakeApiServer.start({
    handlers: {
      'GET configmaps': ({response}) => {
        const items = Array.from({length: 20_000}, () => ({metadata: {}}));
        response.end(JSON.stringify({metadata: {continue: 'more'}, items}));
      },
    },
  });
  await expect(configMapsOf(api).list('', NEVER)).rejects.toThrow('the list has more than 100000 objects');
});

test('a watch with initial events sends the objects, a bookmark, and changes', async () => {
  await using api = await FakeApiServer.start();
  createConfigMaps(api, 3);
  const watch = configMapsOf(api, 'metadata.name=c1')
    .watch({resourceVersion: '', sendInitialEvents: true}, NEVER)
    [Symbol.asyncIterator]();
  const next = async (): Promise<WatchEvent<ListedObject>> =>
    ((await watch.next()) as IteratorYieldResult<WatchEvent<ListedObject>>).value;
  expect(await next()).toMatchObject({type: 'ADDED', object: {metadata: {name: 'c1'}}});
  expect(await next()).toEqual({type: 'BOOKMARK', resourceVersion: '103', endsInitialEvents: true});
  api.create('/api/v1/namespaces/default/configmaps/c1', {data: {a: 'b'}});
  expect(await next()).toMatchObject({type: 'MODIFIED', object: {data: {a: 'b'}}});
  await watch.return?.();
  expect(api.requests[0]?.query).toEqual({
    fieldSelector: 'metadata.name=c1',
    resourceVersionMatch: 'NotOlderThan',
    sendInitialEvents: 'true',
    allowWatchBookmarks: 'true',
    timeoutSeconds: '450',
    watch: 'true',
  });
});
