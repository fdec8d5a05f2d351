import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {aContainer, aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';
import {FakeStreamingServer, type ServerSession} from '../../fakes/streaming/fake-streaming-server.js';
import {KCRI_COMMAND} from '../../kcri-command.js';

/**
 * Runs a shell script on a terminal of script(1). `$KCRI` in it is kcri, whose sessions `handleSession` handles.
 */
async function onTerminal(script: string, handleSession: (session: ServerSession) => Promise<void> | void) {
  const server = await FakeStreamingServer.start({handleSession});
  const web = aSandbox({name: 'web'});
  const containers = [aContainer({sandbox: web, name: 'main'})];
  const runtime = await FakeRuntime.start({streamingUrl: server.url, sandboxes: [web], containers});
  const child = spawn('script', ['-qec', script, '/dev/null'], {
    env: {
      ...process.env,
      CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint,
      KCRI: KCRI_COMMAND.join(' '),
      SHELL: '/bin/sh',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    child.kill();
    await runtime.stop();
    await server[Symbol.asyncDispose]();
  });
  const terminal = {shown: '', exited: once(child, 'close')};
  child.stdout.on('data', (chunk: Buffer) => (terminal.shown += chunk.toString()));
  return terminal;
}

/** Sends this output and ends the session with 3. */
const print =
  (output: string) =>
  (session: ServerSession): void => {
    session.stream('stdout').send(output);
    session.sendExitCode(3);
  };

test('the output of a terminal is shown unchanged', async () => {
  const terminal = await onTerminal('$KCRI exec -it main x', print('a\r\nb\nc\td\n'));
  expect(await terminal.exited).toEqual([3, null]);
  expect(terminal.shown).toBe('a\r\nb\nc\td\n');
});

test('the terminal is raw as with crictl', async () => {
  let shown = (): string => '';
  const terminal = await onTerminal('tty; $KCRI exec -it main x', async (session) => {
    session.stream('stdout').send('ready');
    await until(() => shown().includes('ready'));
    const [, device = ''] = /^(\S+)/.exec(shown()) ?? [];
    const stty = spawn('stty', ['-a', '-F', device], {stdio: ['ignore', 'pipe', 'inherit']});
    let settings = '';
    stty.stdout.on('data', (chunk: Buffer) => (settings += chunk.toString()));
    await once(stty, 'close');
    print(settings)(session);
  });
  shown = () => terminal.shown;
  await terminal.exited;
  const settings = terminal.shown.split(/[\s;]+/);
  const raw = '-ignbrk -brkint -parmrk -istrip -inlcr -igncr -icrnl -ixon -opost'.split(' ');
  const others = '-echo -echonl -icanon -isig -iexten cs8 -parenb'.split(' ');
  expect(settings).toEqual(expect.arrayContaining([...raw, ...others]));
});

test.each(['SIGHUP', 'SIGQUIT', 'SIGTERM', 'SIGINT'] as const)(
  'the terminal is restored after %s',
  async (signal) => {
    let shown = (): string => '';
    const script = `stty -g; trap : HUP; sh -c 'echo pid $$; exec $KCRI exec -it main x'; stty -g`;
    const terminal = await onTerminal(script, async (session) => {
      session.stream('stdout').send('ready\r\n');
      await until(() => shown().includes('ready'));
      process.kill(Number(/pid (\d+)/.exec(shown())?.[1]), signal);
    });
    shown = () => terminal.shown;
    await terminal.exited;
    const settings = terminal.shown.match(/^[0-9a-f]+(:[0-9a-f]+)+$/gm) ?? [];
    expect(settings).toHaveLength(2);
    expect(settings[1]).toBe(settings[0]);
  },
);

test('without stty, sessions work, and --debug says what differs', async () => {
  const terminal = await onTerminal('PATH=/nonexistent $KCRI --debug exec -it main x', print('a\n'));
  expect(await terminal.exited).toEqual([3, null]);
  expect(terminal.shown).toMatch(/the terminal translates the line ends of the output: .*stty/);
  expect(terminal.shown).toMatch(/^a\r$/m);
});
