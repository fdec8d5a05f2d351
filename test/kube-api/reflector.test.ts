import {describe, expect, test} from 'vitest';
import {ApiError} from '../../src/kube-api/api-error.js';
import type {ListedObject, ObjectList} from '../../src/kube-api/list-watch.js';
import {Reflector} from '../../src/kube-api/reflector.js';
import {until} from '../base/until.js';
import {FakeListerWatcher} from '../fakes/fake-lister-watcher.js';
import {FakeClock} from '../fakes/fake-clock.js';

function anObject(name: string, version: number): ListedObject {
  return {metadata: {name, resourceVersion: `${version}`}};
}

function list(version: number, ...names: readonly string[]): ObjectList<ListedObject> {
  return {items: names.map((name) => anObject(name, version)), resourceVersion: `${version}`};
}

const TOO_OLD = new ApiError('too old resource version', {code: 410});
const TOO_LARGE = new ApiError('Too large resource version', {
  code: 504,
  details: {causes: [{reason: 'ResourceVersionTooLarge'}]},
});
const UNSUPPORTED = new ApiError('sendInitialEvents is forbidden', {code: 400, reason: 'Invalid'});
const REFUSED = Object.assign(new Error('connect ECONNREFUSED'), {code: 'ECONNREFUSED'});

/** A reflector that runs, and what it has reported. */
class Scene implements Disposable {
  readonly server = new FakeListerWatcher<ListedObject>();
  readonly clock = new FakeClock();
  readonly failures: unknown[] = [];
  readonly #stop = new AbortController();
  /** Names of the objects after each change. */
  readonly changes: string[] = [];

  start(): void {
    new Reflector<ListedObject>({
      collection: this.server,
      onChange: (objects) => this.changes.push(objects.map(({metadata}) => metadata.name).join(' ')),
      onFailure: (error) => this.failures.push(error),
      clock: this.clock,
      random: () => 0,
    })
      .run(this.#stop.signal)
      .catch(() => undefined);
  }

  async untilCalls(...calls: readonly string[]): Promise<void> {
    await until(() => this.server.calls.length >= calls.length);
    expect(this.server.calls).toEqual(calls);
  }

  /** Lets the back-off end. */
  async backOff(ms: number): Promise<void> {
    await until(() => this.clock.sleeping === 1);
    await this.clock.advance(ms);
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }
}

describe('a watch with initial events', () => {
  test('replaces all objects at the bookmark, and goes on with their changes', async () => {
    using scene = new Scene();
    scene.server.listResults = [list(5, 'a', 'b')];
    scene.start();
    await until(() => scene.changes.length === 1);
    scene.server.emit({type: 'ADDED', object: anObject('c', 6)});
    await until(() => scene.changes.length === 2);
    expect(scene.changes).toEqual(['a b', 'a b c']);
    expect(scene.server.calls).toEqual(['stream ']);
  });

  test('that is refused is followed at once by a list and a watch', async () => {
    using scene = new Scene();
    scene.server.refusal = UNSUPPORTED;
    scene.server.listResults = [list(5, 'a')];
    scene.start();
    await scene.untilCalls('stream ', 'list 0', 'watch 5');
    expect(scene.changes).toEqual(['a']);
    expect(scene.failures).toEqual([]);
  });

  test('that ends without the bookmark leaves the known objects, and a list follows', async () => {
    using scene = new Scene();
    scene.server.listResults = [list(5, 'a'), new Error('cut'), list(9, 'b')];
    scene.start();
    await until(() => scene.changes.length === 1);
    scene.server.emit(TOO_OLD);
    await scene.backOff(800);
    await scene.untilCalls('stream ', 'stream 5', 'list 5', 'watch 9');
    expect(scene.changes).toEqual(['a', 'b']);
  });

  test('is repeated after a pause if the server refuses connections', async () => {
    using scene = new Scene();
    scene.server.refusal = REFUSED;
    scene.start();
    await scene.untilCalls('stream ');
    scene.server.refusal = undefined;
    await scene.backOff(800);
    await scene.untilCalls('stream ', 'stream ');
    expect(scene.failures).toEqual([REFUSED]);
  });
});

describe('a watch that fails', () => {
  test.each([
    ['that is too old', TOO_OLD],
    ['that the server does not have yet, such as after a restored backup', TOO_LARGE],
  ])('at a version %s begins again at the newest version', async (_title, error) => {
    using scene = new Scene();
    scene.server.listResults = [list(50, 'a'), error, list(30, 'b')];
    scene.start();
    await until(() => scene.changes.length === 1);
    scene.server.emit(error);
    await scene.backOff(800);
    await scene.untilCalls('stream ', 'stream 50', 'stream ');
    await until(() => scene.changes.length === 2);
    expect(scene.changes).toEqual(['a', 'b']);
    scene.server.emit('end');
    await scene.untilCalls('stream ', 'stream 50', 'stream ', 'watch 30');
    expect(scene.failures).toEqual([]);
  });

  test('since the server refuses connections is resumed at the last version', async () => {
    using scene = new Scene();
    scene.server.listResults = [list(5, 'a')];
    scene.server.watchErrors.push(REFUSED, new ApiError('busy', {code: 429}));
    scene.start();
    await until(() => scene.changes.length === 1);
    scene.server.emit({type: 'BOOKMARK', resourceVersion: '8'}, 'end');
    await scene.backOff(800);
    await scene.backOff(1600);
    await scene.untilCalls('stream ', 'watch 8', 'watch 8', 'watch 8');
    expect(scene.failures).toHaveLength(2);
  });

  test('at once and without an event counts as a failure', async () => {
    using scene = new Scene();
    scene.start();
    await until(() => scene.changes.length === 1);
    scene.server.emit('end');
    await until(() => scene.server.calls.length === 2);
    scene.server.emit('end');
    await scene.backOff(800);
    await scene.untilCalls('stream ', 'watch 1', 'stream 1');
    expect(scene.failures.map(String)).toEqual([expect.stringContaining('very short')]);
  });

  test('with a server that denies even the newest version is repeated with back-off', async () => {
    using scene = new Scene();
    scene.server.refusal = TOO_OLD;
    scene.start();
    await scene.untilCalls('stream ');
    await scene.backOff(800);
    await scene.untilCalls('stream ', 'stream ');
    await until(() => scene.clock.sleeping === 1);
    expect(scene.clock.sleeps).toEqual([800, 1600]);
  });
});
