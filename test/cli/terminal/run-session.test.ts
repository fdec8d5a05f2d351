import type {EventEmitter} from 'node:events';
import {PassThrough, Writable} from 'node:stream';
import {describe, expect, test} from 'vitest';
import {runSession, type RunSessionOptions} from '../../../src/cli/terminal/run-session.js';
import type {RemoteResult, RemoteSession, TerminalSize} from '../../../src/streaming/session.js';
import {until} from '../../base/until.js';
import {FakeRemoteOutput} from '../../streaming/fake-remote-output.js';

/** A session whose remote end is the test. */
function aSession() {
  const [stdin, stdout, stderr] = [new PassThrough(), new FakeRemoteOutput(), new FakeRemoteOutput()];
  let decide: (result: RemoteResult) => void = () => undefined;
  let break_: (error: Error) => void = () => undefined;
  const result = new Promise<RemoteResult>((resolve, reject) => {
    decide = resolve;
    break_ = reject;
  });
  const sizes: TerminalSize[] = [];
  let closed = false;
  const session: RemoteSession = {
    stdin,
    stdout,
    stderr,
    halfClosesStdin: true,
    resize: (size) => void sizes.push(size),
    result,
    close: () => (closed = true),
  };
  const end = (last: RemoteResult): void => {
    stdout.end();
    stderr.end();
    decide(last);
  };
  return {
    session,
    stdin,
    stdout,
    stderr,
    end,
    fail: (error: Error) => {
      stdout.end();
      stderr.end();
      break_(error);
    },
    sizes,
    isClosed: () => closed,
  };
}

/** A terminal that remembers what was done to it. */
function aTerminal() {
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (raw: boolean) => modes.push(raw),
  });
  const stdout = Object.assign(new PassThrough(), {isTTY: true, columns: 80, rows: 24});
  return {stdin, stdout, stderr: new PassThrough(), modes};
}

function start(
  session: RemoteSession,
  terminal: ReturnType<typeof aTerminal>,
  options: Partial<RunSessionOptions> = {},
) {
  return runSession(session, terminal, {
    tty: true,
    detachKeys: [16, 17],
    outputs: [terminal.stdout, terminal.stderr],
    outputClosed: new AbortController().signal,
    signal: new AbortController().signal,
    ...options,
  });
}

const listeners = (emitter: EventEmitter): number => emitter.listenerCount('resize');

describe('conduct', () => {
  test('hands keys over as they are, and puts the terminal back', async () => {
    const [remote, terminal] = [aSession(), aTerminal()];
    const ended = start(remote.session, terminal);
    terminal.stdin.write('\x03');
    await until(() => remote.stdin.readableLength === 1);
    expect(terminal.modes).toEqual([true]);
    remote.end({kind: 'exited', exitCode: 4});
    expect(await ended).toEqual({kind: 'exited', exitCode: 4});
    expect(terminal.modes).toEqual([true, false]);
    expect(remote.isClosed()).toBe(true);
  });

  test('tells the size at first and whenever it changes, and then no more', async () => {
    const [remote, terminal] = [aSession(), aTerminal()];
    const ended = start(remote.session, terminal);
    terminal.stdout.columns = 132;
    terminal.stdout.emit('resize');
    expect(remote.sizes).toEqual([
      {columns: 80, rows: 24},
      {columns: 132, rows: 24},
    ]);
    remote.end({kind: 'exited', exitCode: 0});
    await ended;
    expect(listeners(terminal.stdout)).toBe(0);
  });

  test('the detach keys leave at once', async () => {
    const [remote, terminal] = [aSession(), aTerminal()];
    const ended = start(remote.session, terminal);
    terminal.stdin.write('x\x10');
    terminal.stdin.write('\x11');
    expect(await ended).toEqual({kind: 'detached'});
    expect(terminal.modes).toEqual([true, false]);
    expect(remote.isClosed()).toBe(true);
  });

  test.each<
    [
      string,
      (controllers: {signal: AbortController; unread: AbortController}, fail: (error: Error) => void) => void,
      unknown,
    ]
  >([
    [
      'an interruption',
      ({signal}) => {
        signal.abort(new Error('interrupted'));
      },
      'interrupted',
    ],
    [
      'a lost connection',
      (_controllers, fail) => {
        fail(new Error('lost'));
      },
      'lost',
    ],
    [
      'a reader that has gone',
      ({unread}) => {
        unread.abort();
      },
      {kind: 'unread'},
    ],
  ])('%s ends it, with the terminal as it was', async (_what, act, expected) => {
    const [remote, terminal] = [aSession(), aTerminal()];
    const controllers = {signal: new AbortController(), unread: new AbortController()};
    const ended = start(remote.session, terminal, {
      signal: controllers.signal.signal,
      outputClosed: controllers.unread.signal,
    }).catch((error: unknown) => (error as Error).message);
    act(controllers, remote.fail);
    expect(await ended).toEqual(expected);
    expect(terminal.modes).toEqual([true, false]);
    expect(remote.isClosed()).toBe(true);
  });

  test('input that can not be read is an error', async () => {
    const [remote, terminal] = [aSession(), aTerminal()];
    const ended = start(remote.session, terminal, {tty: false});
    terminal.stdin.destroy(new Error('EIO: i/o error, read'));
    await expect(ended).rejects.toThrow('reading standard input: EIO: i/o error, read');
  });

  test('all output is written before the end is told', async () => {
    const [remote, terminal] = [aSession(), aTerminal()];
    const ended = start(remote.session, terminal);
    remote.stdout.write('a'.repeat(100_000));
    remote.end({kind: 'exited', exitCode: 0});
    let length = 0;
    terminal.stdout.on('data', (piece: Buffer) => (length += piece.length));
    await ended;
    expect(length).toBe(100_000);
  });

  test('errors that nobody reads hold up nothing', async () => {
    const [remote, terminal] = [aSession(), aTerminal()];
    const stderr = new Writable({
      write: (_chunk, _encoding, done) => {
        done(new Error('EPIPE'));
      },
    }).on('error', () => undefined);
    const ended = start(remote.session, terminal, {outputs: [terminal.stdout.resume(), stderr]});
    for (let pieces = 0; pieces < 100; pieces += 1) remote.stderr.write(Buffer.alloc(10_000));
    await until(() => remote.stderr.readableLength === 0 && remote.stderr.writableLength === 0);
    remote.end({kind: 'exited', exitCode: 0});
    expect(await ended).toEqual({kind: 'exited', exitCode: 0});
  });

  test('a slow reader holds up the session', async () => {
    const [remote, terminal] = [aSession(), aTerminal()];
    const ended = start(remote.session, terminal);
    for (let pieces = 0; pieces < 100; pieces += 1) remote.stdout.write(Buffer.alloc(10_000));
    await new Promise((resolve) => setImmediate(resolve));
    expect(terminal.stdout.readableLength + terminal.stdout.writableLength).toBeLessThan(200_000);
    terminal.stdout.resume();
    remote.end({kind: 'exited', exitCode: 0});
    await ended;
  });

  test('many sessions may share one output and its end', async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warned);
    const {stdout, stderr, ...terminal} = aTerminal();
    const shared = {
      outputs: [stdout.resume(), stderr.resume()],
      unread: new AbortController().signal,
      signal: new AbortController().signal,
    };
    const remotes = Array.from({length: 20}, () => ({...aSession(), stdin: aTerminal().stdin}));
    const ended = remotes.map(({session, stdin}) =>
      start(session, {...terminal, stdout, stderr, stdin}, {tty: false, ...shared}),
    );
    for (const remote of remotes) remote.end({kind: 'exited', exitCode: 0});
    await Promise.all(ended);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', warned);
    expect(warnings).toEqual([]);
  });

  test('nothing stays behind on the process', async () => {
    const before = process.listenerCount('exit') + process.listenerCount('SIGHUP');
    const [remote, terminal] = [aSession(), aTerminal()];
    const ended = start(remote.session, terminal);
    expect(process.listenerCount('exit') + process.listenerCount('SIGHUP')).toBe(before + 2);
    remote.end({kind: 'exited', exitCode: 0});
    await ended;
    expect(process.listenerCount('exit') + process.listenerCount('SIGHUP')).toBe(before);
  });
});
