import {expect, test} from 'vitest';
import {CommandOutput} from '../../../src/cli/output/command-output.js';
import {createProcessContext} from '../../../src/cli/process/context.js';
import type {OutputStream} from '../../../src/cli/process/standard-output.js';
import {createLogSink} from '../../../src/features/logs/log-sink.js';

function aStream(written: string[]): OutputStream {
  return {
    writableNeedDrain: false,
    write: (chunk, done) => {
      written.push(chunk.toString());
      done?.();
      return true;
    },
    on: () => undefined,
    removeListener: () => undefined,
    removeAllListeners: () => undefined,
    destroy: () => undefined,
  };
}

test('standard error is opened only for lines to it', async () => {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  let opened = 0;
  const context = Object.defineProperties(createProcessContext(), {
    stdout: {value: aStream(stdout)},
    stderr: {
      get: () => {
        opened += 1;
        return aStream(stderr);
      },
    },
  });
  const out = new CommandOutput(context, {escapesControls: false});
  const sink = createLogSink({out}, context.signal);
  expect(sink.together).toBe(false);
  sink.write('stdout', Buffer.from('a\n'));
  await sink.ready();
  expect({opened, stdout, stderr}).toEqual({opened: 0, stdout: ['a\n'], stderr: []});
  sink.write('stderr', Buffer.from('b\n'));
  await sink.ready();
  expect({opened, stderr}).toEqual({opened: 1, stderr: ['b\n']});
});
