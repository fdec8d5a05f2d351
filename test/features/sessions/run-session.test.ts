import type {EventEmitter} from 'node:events';
import {PassThrough, Writable} from 'node:stream';
import {describe, expect, test} from 'vitest';
import {runSession, type RunSessionOptions} from '../../../src/features/sessions/run-session.js';
import type {RemoteResult, RemoteSession, TerminalSize} from '../../../src/streaming/session/session.js';
import {until} from '../../base/until.js';
import {FakeRemoteOutput} from '../../streaming/fake-remote-output.js';

/** Creates a session whose remote end the test controls. */
function aSession() {
  const [stdin, stdout, stderr] = [new PassThrough(), new FakeRemoteOutput(), new FakeRemoteOutput()];
  let resolveResult: (result: RemoteResult) => void = () => undefined;
  let rejectResult: (error: Error) => void = () => undefined;
  const result = new Promise<RemoteResult>((resolve, reject) => {
    resolveResult = resolve;
    rejectResult = reject;
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
    resolveResult(last);
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
      rejectResult(error);
    },
    sizes,
    isClosed: () => closed,
  };
}

/** Creates a terminal that records its modes. */
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

describe('runSession', () => {
  test('passes keys unchanged, and restores the terminal', async () => {
    const [remote, terminal] = [aSession(), aTerminal()];
    const finished = start(remote.session, terminal);
    terminal.stdin.write('\x03');
    await until(() => remote.stdin.readableLength === 1);
    expect(terminal.modes).toEqual([true]);
    remote.end({kind: 'exited', exitCode: 4});
    expect(await finished).toEqual({kind: 'exited', exitCode: 4});
    expect(terminal.modes).toEqual([true, false]);
    expect(remote.isClosed()).toBe(true);
  });

  test('sends the initial size and changes of it while it runs', async () => {
    const [remote, terminal] = [aSession(), aTerminal()];
    const finished = start(remote.session, terminal);
    terminal.stdout.columns = 132;
    terminal.stdout.emit('resize');
    expect(remote.sizes).toEqual([
      {columns: 80, rows: 24},
      {columns: 132, rows: 24},
    ]);
    remote.end({kind: 'exited', exitCode: 0});
    await finished;
    expect(listeners(terminal.stdout)).toBe(0);
  });

  test('the detach keys end it immediately', async () => {
    const [remote, terminal] = [aSession(), aTerminal()];
    const finished = start(remote.session, terminal);
    terminal.stdin.write('x\x10');
    terminal.stdin.write('\x11');
    expect(await finished).toEqual({kind: 'detached'});
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
      'an interrupt',
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
      'a closed reader',
      ({unread}) => {
        unread.abort();
      },
      {kind: 'unread'},
    ],
  ])('%s ends it and restores the terminal', async (_what, action, expected) => {
    const [remote, terminal] = [aSession(), aTerminal()];
    const controllers = {signal: new AbortController(), unread: new AbortController()};
    const finished = start(remote.session, terminal, {
      signal: controllers.signal.signal,
      outputClosed: controllers.unread.signal,
    }).catch((error: unknown) => (error as Error).message);
    action(controllers, remote.fail);
    expect(await finished).toEqual(expected);
    expect(terminal.modes).toEqual([true, false]);
    expect(remote.isClosed()).toBe(true);
  });

  test('rejects if input cannot be read', async () => {
    const [remote, terminal] = [aSession(), aTerminal()];
    const finished = start(remote.session, terminal, {tty: false});
    terminal.stdin.destroy(new Error('EIO: i/o error, read'));
    await expect(finished).rejects.toThrow('reading standard input: EIO: i/o error, read');
  });

  test('writes all output before it ends', async () => {
    const [remote, terminal] = [aSession(), aTerminal()];
    const finished = start(remote.session, terminal);
    remote.stdout.write('a'.repeat(100_000));
    remote.end({kind: 'exited', exitCode: 0});
    let length = 0;
    terminal.stdout.on('data', (chunk: Buffer) => (length += chunk.length));
    await finished;
    expect(length).toBe(100_000);
  });

  test('a failing standard error does not block it', async () => {
    const [remote, terminal] = [aSession(), aTerminal()];
    const stderr = new Writable({
      write: (_chunk, _encoding, done) => {
        done(new Error('EPIPE'));
      },
    }).on('error', () => undefined);
    const finished = start(remote.session, terminal, {outputs: [terminal.stdout.resume(), stderr]});
    for (let chunks = 0; chunks < 100; chunks += 1) remote.stderr.write(Buffer.alloc(10_000));
    await until(() => remote.stderr.readableLength === 0 && remote.stderr.writableLength === 0);
    remote.end({kind: 'exited', exitCode: 0});
    expect(await finished).toEqual({kind: 'exited', exitCode: 0});
  });

  test('a slow reader pauses it', async () => {
    const [remote, terminal] = [aSession(), aTerminal()];
    const finished = start(remote.session, terminal);
    for (let chunks = 0; chunks < 100; chunks += 1) remote.stdout.write(Buffer.alloc(10_000));
    await new Promise((resolve) => setImmediate(resolve));
    expect(terminal.stdout.readableLength + terminal.stdout.writableLength).toBeLessThan(200_000);
    terminal.stdout.resume();
    remote.end({kind: 'exited', exitCode: 0});
    await finished;
  });

  test('many sessions can share an output and its end', async () => {
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
    const finished = remotes.map(({session, stdin}) =>
      start(session, {...terminal, stdout, stderr, stdin}, {tty: false, ...shared}),
    );
    for (const remote of remotes) remote.end({kind: 'exited', exitCode: 0});
    await Promise.all(finished);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', warned);
    expect(warnings).toEqual([]);
  });

  test('leaves no listeners on the process', async () => {
    const count = (): number =>
      ['exit', 'SIGHUP', 'SIGQUIT'].reduce((sum, name) => sum + process.listenerCount(name), 0);
    const before = count();
    const [remote, terminal] = [aSession(), aTerminal()];
    const finished = start(remote.session, terminal);
    await until(() => terminal.modes.length > 0);
    expect(count()).toBe(before + 3);
    remote.end({kind: 'exited', exitCode: 0});
    await finished;
    expect(count()).toBe(before);
  });
});
