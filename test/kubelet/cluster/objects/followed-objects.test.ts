import {describe, expect, test} from 'vitest';
import type {Node} from '../../../../src/api/types/v1-node.js';
import {ApiClient} from '../../../../src/kube-api/api-client.js';
import {HttpConnection} from '../../../../src/kube-api/http-connection.js';
import {
  computeTtlMs,
  createObjectFollower,
  type ChangeDetectionStrategy,
} from '../../../../src/kubelet/cluster/objects/change-detection.js';
import type {DataObjectRef} from '../../../../src/kubelet/cluster/objects/object-reference.js';
import {ReferencedObjects} from '../../../../src/kubelet/cluster/objects/referenced-objects.js';
import {fakeLogger} from '../../../base/fake-logger.js';
import {until} from '../../../base/until.js';
import {FakeApiServer} from '../../../fakes/api-server/fake-api-server.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

const NEVER = new AbortController().signal;
const SETTINGS: DataObjectRef = {kind: 'ConfigMap', namespace: 'default', name: 'settings'};
const COLLECTION = '/api/v1/namespaces/default/configmaps';
const MINUTE_MS = 60_000;

/** Objects that are followed at a fake API server. */
class Scene implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly api: FakeApiServer;
  readonly objects: ReferencedObjects;
  readonly #connection: HttpConnection;

  private constructor(api: FakeApiServer, strategy: ChangeDetectionStrategy, node?: Node) {
    const {clock} = this;
    const credentials = {tls: {rejectUnauthorized: true}, token: undefined};
    this.api = api;
    this.#connection = new HttpConnection(new URL(api.url), {current: async () => credentials});
    const client = new ApiClient({connection: this.#connection, userAgent: 'kcri', clock});
    this.objects = new ReferencedObjects(
      createObjectFollower({
        ...{strategy, client, clock, logger: fakeLogger({info: () => undefined, error: () => undefined})},
        syncFrequencyMs: MINUTE_MS,
        node: () => node,
        random: () => 0,
      }),
    );
  }

  static async start(strategy: ChangeDetectionStrategy, node?: Node): Promise<Scene> {
    return new Scene(await FakeApiServer.start(), strategy, node);
  }

  set(data: object, fields: object = {}): void {
    this.api.create(`${COLLECTION}/settings`, {kind: 'ConfigMap', data, ...fields});
  }

  /** Loads the object and returns its data. */
  async load(): Promise<unknown> {
    await this.objects.get(SETTINGS)?.load(NEVER);
    return this.data;
  }

  get data(): unknown {
    const object = this.objects.get(SETTINGS)?.object;
    return object?.data;
  }

  get requests(): number {
    return this.api.requests.length;
  }

  get watches(): number {
    return this.api.watches.count;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const uid of this.objects.users) this.objects.unregister(uid);
    this.#connection.close();
    await this.api[Symbol.asyncDispose]();
  }
}

describe('Watch', () => {
  test('an object is watched from its first user to its last', async () => {
    await using scene = await Scene.start('Watch');
    scene.set({a: '1'});
    scene.objects.register('one', [SETTINGS]);
    scene.objects.register('two', [SETTINGS, SETTINGS]);
    expect(await scene.load()).toEqual({a: '1'});
    expect(scene.api.requests.map(({path, query}) => [path, query['fieldSelector']])).toEqual([
      [COLLECTION, 'metadata.name=settings'],
    ]);
    const {timeoutSeconds} = scene.api.requests[0]?.query ?? {};
    expect(timeoutSeconds).toBe('1800');
    scene.objects.unregister('one');
    expect(scene.watches).toBe(1);
    scene.objects.register('two', []);
    await until(() => scene.watches === 0);
    expect(scene.objects.get(SETTINGS)).toBeUndefined();
  });

  test('changes, a deletion and a new object of the name arrive', async () => {
    await using scene = await Scene.start('Watch');
    scene.set({a: '1'});
    scene.objects.register('one', [SETTINGS]);
    await scene.load();
    scene.set({a: '2'});
    await until(() => JSON.stringify(scene.data) === '{"a":"2"}');
    scene.api.storage.delete(`${COLLECTION}/settings`);
    await until(() => scene.data === undefined);
    expect(scene.objects.get(SETTINGS)?.failure).toBeUndefined();
    scene.set({a: '3'});
    await until(() => JSON.stringify(scene.data) === '{"a":"3"}');
    expect(scene.requests).toBe(1);
  });

  test('an object that becomes immutable is no longer watched, and stays known', async () => {
    await using scene = await Scene.start('Watch');
    scene.set({a: '1'});
    scene.objects.register('one', [SETTINGS]);
    await scene.load();
    scene.set({a: '2'}, {immutable: true});
    await until(() => JSON.stringify(scene.data) === '{"a":"2"}');
    await scene.load();
    await until(() => scene.watches === 0);
    expect(await scene.load()).toEqual({a: '2'});
    expect(scene.requests).toBe(1);
  });

  test('a watch ends after five sync periods without a use, and the next use starts it again', async () => {
    await using scene = await Scene.start('Watch');
    scene.set({a: '1'});
    scene.objects.register('one', [SETTINGS]);
    await scene.load();
    await scene.clock.advance(5 * MINUTE_MS);
    scene.objects.stopIdle();
    expect(scene.watches).toBe(1);
    await scene.clock.advance(1);
    scene.objects.stopIdle();
    await until(() => scene.watches === 0);
    scene.set({a: '2'});
    expect(await scene.load()).toEqual({a: '2'});
    expect(scene.watches).toBe(1);
  });

  test('an object that the server does not send is a failure after a second, and arrives later', async () => {
    await using scene = await Scene.start('Watch');
    scene.set({a: '1'});
    scene.api.inject(() => true, {code: 403, message: 'not yet'}, 2);
    scene.objects.register('one', [SETTINGS]);
    await until(() => scene.clock.sleeps.includes(800));
    const loaded = scene.load();
    await scene.clock.advance(1000);
    await loaded;
    expect(scene.objects.get(SETTINGS)?.failure?.message).toBe(
      'failed to sync configmap cache: timed out waiting for the condition',
    );
    expect(await scene.load()).toEqual({a: '1'});
    expect(scene.objects.get(SETTINGS)?.failure).toBeUndefined();
  });

  test('the last state remains known while the server is not available', async () => {
    await using scene = await Scene.start('Watch');
    scene.set({a: '1'});
    scene.objects.register('one', [SETTINGS]);
    await scene.load();
    await scene.api.refuse();
    expect(await scene.load()).toEqual({a: '1'});
    await scene.api.listen();
  });

  test.each([
    [
      'its version has become too old',
      (api: FakeApiServer) => {
        api.watches.end(410);
      },
    ],
    [
      'a line that is not JSON',
      (api: FakeApiServer) => {
        api.watches.sendText('<html>\n');
      },
    ],
    [
      'an event about another object',
      (api: FakeApiServer) => {
        api.watches.sendText(OTHER_OBJECT);
      },
    ],
  ])('an object is followed further after %s', async (_title, fail) => {
    await using scene = await Scene.start('Watch');
    scene.set({a: '1'});
    scene.objects.register('one', [SETTINGS]);
    await scene.load();
    fail(scene.api);
    scene.set({a: '2'});
    await until(async () => {
      await scene.clock.advance(800);
      return JSON.stringify(scene.data) === '{"a":"2"}';
    });
  });

  test('a thousand objects are watched, and all watches end', async () => {
    await using scene = await Scene.start('Watch');
    const refs = Array.from({length: 1000}, (_, index) => ({...SETTINGS, name: `c${index}`}));
    for (const {name} of refs) scene.api.create(`${COLLECTION}/${name}`, {kind: 'ConfigMap', data: {name}});
    scene.objects.register('one', refs);
    await until(async () => {
      // On a slow machine, some of a thousand connections fail at first and are repeated.
      await scene.clock.advance(100);
      return refs.every((ref) => scene.objects.get(ref)?.object?.metadata.name === ref.name);
    });
    scene.objects.unregister('one');
    await until(() => scene.watches === 0);
  });
});

const OTHER_OBJECT = `${JSON.stringify({
  type: 'ADDED',
  object: {kind: 'ConfigMap', metadata: {name: 'other', resourceVersion: '1'}, data: {a: 'other'}},
})}\n`;

test('Get reads the object on each use, and keeps the last state while it cannot be read', async () => {
  await using scene = await Scene.start('Get');
  scene.set({a: '1'});
  scene.objects.register('one', [SETTINGS]);
  expect(await scene.load()).toEqual({a: '1'});
  scene.set({a: '2'});
  expect(await scene.load()).toEqual({a: '2'});
  scene.api.inject(() => true, {code: 500}, 1);
  expect(await scene.load()).toEqual({a: '2'});
  scene.api.storage.delete(`${COLLECTION}/settings`);
  expect(await scene.load()).toBeUndefined();
  expect(scene.api.requests.map(({path}) => path)).toEqual(Array(4).fill(`${COLLECTION}/settings`));
});

test('Get reports an object that was never read', async () => {
  await using scene = await Scene.start('Get');
  scene.api.inject(() => true, {code: 403, message: 'no relationship found'}, 1);
  scene.objects.register('one', [SETTINGS]);
  await scene.load();
  expect(scene.objects.get(SETTINGS)?.failure?.message).toBe('no relationship found');
  await scene.load();
  expect(scene.objects.get(SETTINGS)?.failure).toBeUndefined();
});

test('Cache reads the object again after its time, and for a new pod', async () => {
  await using scene = await Scene.start('Cache', nodeWithTtl('30'));
  scene.set({a: '1'});
  scene.objects.register('one', [SETTINGS]);
  await scene.load();
  scene.set({a: '2'});
  await scene.clock.advance(29_999);
  expect(await scene.load()).toEqual({a: '1'});
  await scene.clock.advance(1);
  expect(await scene.load()).toEqual({a: '2'});
  scene.set({a: '3'});
  scene.objects.register('two', [SETTINGS]);
  expect(await scene.load()).toEqual({a: '3'});
  expect(scene.requests).toBe(3);
});

test.each([
  [undefined, 60_000],
  ['0', 0],
  ['300', 300_000],
  ['5m', 60_000],
])('with the annotation %s, objects are cached for %d ms', (ttl, expected) => {
  expect(computeTtlMs(ttl === undefined ? undefined : nodeWithTtl(ttl))).toBe(expected);
});

function nodeWithTtl(ttl: string): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {name: 'node', annotations: {'node.alpha.kubernetes.io/ttl': ttl}},
    spec: {},
  };
}
