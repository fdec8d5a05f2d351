import {PassThrough, Writable} from 'node:stream';
import {describe, expect, test} from 'vitest';
import {Output} from '../../../src/cli/output/output.js';
import {main} from '../program.js';
import {createProcessContext} from '../../../src/cli/process/context.js';
import {FakeRuntime, aContainer} from '../../fakes/fake-runtime.js';

function errno(code: string, number: number): Error {
  return Object.assign(new Error(code), {code, errno: number, syscall: 'write'});
}

/** Returns a stream whose writes all fail. */
function failing(error: Error): Writable {
  return new Writable({
    write: (_chunk, _encoding, done) => {
      done(error);
    },
  });
}

describe('Output', () => {
  test('waits for a slow reader without adding a listener per wait', async () => {
    const stream = new PassThrough({highWaterMark: 1});
    const output = new Output(stream, 'standard output');
    const listeners = (): number =>
      stream.eventNames().reduce((sum, name) => sum + stream.listenerCount(name), 0);
    const {signal} = new AbortController();
    const before = listeners();
    for (let index = 0; index < 20; index++) {
      output.write('text');
      let isReady = false;
      const ready = output.ready(signal).then(() => {
        isReady = true;
      });
      await new Promise(setImmediate);
      expect(isReady).toBe(false);
      stream.read();
      await ready;
    }
    expect(listeners()).toBe(before);
  });

  test('the wait for a stalled reader ends with the signal', async () => {
    const output = new Output(new PassThrough({highWaterMark: 1}), 'standard output');
    output.write('text');
    const controller = new AbortController();
    const waiting = output.ready(controller.signal);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(output.ready(controller.signal)).rejects.toThrow('enough');
  });

  test('a closed reader is not an error and ends the wait', async () => {
    const output = new Output(failing(errno('EPIPE', -32)), 'standard output');
    output.write('text');
    await output.ready(new AbortController().signal);
    await output.flush(new AbortController().signal);
    expect(output.closed.aborted).toBe(true);
  });

  test('flush rejects after a write to a full disk, regardless of the number of writes', async () => {
    const output = new Output(failing(errno('ENOSPC', -28)), 'standard output');
    output.write('text');
    await new Promise(setImmediate);
    output.write('more');
    expect(output.closed.aborted).toBe(true);
    await expect(output.flush(new AbortController().signal)).rejects.toThrow(
      'writing to standard output: no space left on device',
    );
  });

  test('replaces error listeners of others, which would throw', async () => {
    const stream = failing(errno('ENOSPC', -28));
    stream.on('error', (error) => {
      throw error;
    });
    const output = new Output(stream, 'standard output');
    output.write('text');
    await expect(output.flush(new AbortController().signal)).rejects.toThrow('no space left');
  });
});

test.each([[['--version']], [['--help']], [['ps', '--help']]])(
  '%j on a full disk exits with 1 and one line',
  async (args) => {
    const stderr = new PassThrough();
    const context = {...createProcessContext(), stdout: failing(errno('ENOSPC', -28)), stderr};
    expect(await main(args, context)).toBe(1);
    expect(String(stderr.read())).toBe('kcri: writing to standard output: no space left on device\n');
  },
);

test('a command fails if its data cannot be written to a full disk', async () => {
  await using runtime = await FakeRuntime.start({containers: [aContainer()]});
  const stderr = new PassThrough();
  const context = {...createProcessContext(), stdout: failing(errno('ENOSPC', -28)), stderr};
  expect(await main(['-r', runtime.endpoint, 'ps'], context)).toBe(1);
  expect(String(stderr.read())).toBe('kcri: writing to standard output: no space left on device\n');
});
