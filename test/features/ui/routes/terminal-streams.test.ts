import {Writable} from 'node:stream';
import {expect, test} from 'vitest';
import {TerminalInput, TerminalOutput} from '../../../../src/features/ui/routes/terminal-streams.js';
import {STALL_LIMIT_MS} from '../../../../src/features/ui/server/text-sink.js';
import {until} from '../../../base/until.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

function anOutput() {
  const sent: string[] = [];
  const closed = new AbortController();
  const client = {
    send: (data: unknown, done: unknown) => {
      sent.push(String(data));
      (done as () => void)();
    },
  };
  return {sent, closed, output: new TerminalOutput(client, closed.signal)};
}

test('output waits while the page asks for it, and continues in order', async () => {
  const {sent, output} = anOutput();
  output.write('a');
  output.setPaused(true);
  output.write('b');
  output.write('c');
  await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toEqual(['a']);
  output.setPaused(false);
  await until(() => sent.length === 3);
  expect(sent).toEqual(['a', 'b', 'c']);
});

test('output that waits does not outlive its connection', async () => {
  const {output, closed} = anOutput();
  output.setPaused(true);
  output.end('a');
  closed.abort();
  await until(() => output.writableFinished);
});

function anInput() {
  const calls: string[] = [];
  const clock = new FakeClock();
  const closed = new AbortController();
  const client = {
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
    terminate: () => calls.push('terminate'),
  };
  let take = (): void => undefined;
  const stdin = new Writable({
    highWaterMark: 1,
    write: (_chunk, _encoding, done) => {
      take = done;
    },
  });
  const input = new TerminalInput(client, stdin, {clock, closed: closed.signal});
  return {
    calls,
    clock,
    closed,
    input,
    take: (): void => {
      take();
    },
  };
}

test('input is not read while the program takes none', async () => {
  const {calls, clock, input, take} = anInput();
  input.write(Buffer.from('ab'));
  expect(calls).toEqual(['pause']);
  take();
  await until(() => clock.sleeping === 0);
  expect(calls).toEqual(['pause', 'resume']);
});

test('a connection ends whose input the program does not take for a time', async () => {
  const {calls, clock, input} = anInput();
  input.write(Buffer.from('ab'));
  // It had been received before.
  input.write(Buffer.from('c'));
  await until(() => clock.sleeping === 1);
  clock.elapse(STALL_LIMIT_MS);
  await until(() => calls.length === 2);
  expect(calls).toEqual(['pause', 'terminate']);
});

test('a connection that is closed ends the wait for its program', async () => {
  const {calls, clock, closed, input} = anInput();
  input.write(Buffer.from('ab'));
  await until(() => clock.sleeping === 1);
  closed.abort(new Error('closed'));
  await until(() => clock.sleeping === 0);
  expect(calls).toEqual(['pause']);
});
