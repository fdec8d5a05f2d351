import {expect, onTestFinished, test} from 'vitest';
import {connect, type Connection} from '../../src/cri/index.js';
import {FakeRuntime} from '../fakes/fake-runtime.js';

/** Starts a runtime and connects to it with an observer that records how each call ends. */
async function startObserved(): Promise<{
  readonly fake: FakeRuntime;
  readonly connection: Connection;
  readonly ends: readonly (readonly [rpc: string, error: unknown])[];
}> {
  const fake = await FakeRuntime.start();
  const ends: (readonly [string, unknown])[] = [];
  const connection = connect(fake.endpoint, {
    observers: [({method}) => ({ended: (error) => void ends.push([method.rpc, error])})],
  });
  onTestFinished(async () => {
    connection.close();
    await fake.stop();
  });
  return {fake, connection, ends};
}

test('a failed call ends with its error, a successful call without one', async () => {
  const {fake, connection, ends} = await startObserved();
  await connection.runtime.version();
  fake.injectError('Version', {code: 'UNKNOWN', message: 'no'});
  await connection.runtime.version().catch(() => undefined);
  expect(ends).toEqual([
    ['Version', undefined],
    ['Version', expect.objectContaining({details: 'no'})],
  ]);
});

test('an aborted call ends with the reason, since its answer is missing', async () => {
  const {fake, connection, ends} = await startObserved();
  const abort = new AbortController();
  fake.injectDelay('Version', 3_600_000);
  const version = connection.runtime.version({}, {signal: abort.signal});
  await expect.poll(() => fake.callsTo('Version')).toHaveLength(1);
  abort.abort(new Error('enough'));
  await expect(version).rejects.toThrow('enough');
  expect(ends).toEqual([['Version', abort.signal.reason]]);
});

test('a stream that its reader aborts or leaves has not failed', async () => {
  const {fake, connection, ends} = await startObserved();
  const abort = new AbortController();
  const events = connection.runtime.getContainerEvents({}, {signal: abort.signal})[Symbol.asyncIterator]();
  const next = events.next();
  await expect.poll(() => fake.state.events.listeners).toBe(1);
  abort.abort(new Error('enough'));
  await expect(next).rejects.toThrow('enough');
  const images = connection.images.streamImages()[Symbol.asyncIterator]();
  await images.next();
  await images.return?.();
  expect(ends).toEqual([
    ['GetContainerEvents', undefined],
    ['StreamImages', undefined],
  ]);
});

test('a stream that the runtime breaks has failed', async () => {
  const {fake, connection, ends} = await startObserved();
  const next = connection.runtime.getContainerEvents()[Symbol.asyncIterator]().next();
  await expect.poll(() => fake.state.events.listeners).toBe(1);
  const failing = expect(next).rejects.toMatchObject({grpcCode: 'UNAVAILABLE'});
  await fake.crash();
  await failing;
  expect(ends).toEqual([['GetContainerEvents', expect.objectContaining({grpcCode: 'UNAVAILABLE'})]]);
});
