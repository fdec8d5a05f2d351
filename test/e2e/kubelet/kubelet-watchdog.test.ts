import {once} from 'node:events';
import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {WebSocket} from 'ws';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {startKcriProcess, type KcriProcess} from '../harness/kcri-process.js';

/** Opens the debugger of a process, which blocks its event loop in the middle of its work. */
async function openDebugger(kcri: KcriProcess): Promise<WebSocket> {
  kcri.kill('SIGUSR1');
  const [, url = ''] = await kcri.waitForOutput(/Debugger listening on (ws:\S+)/);
  const socket = new WebSocket(url);
  await once(socket, 'open');
  return socket;
}

/** Blocks the event loop for this time again and again, outside of the debugger, which answers one client at a time. */
function block(socket: WebSocket, ms: number): void {
  const expression = `setInterval(function blockedByTest() {
    const end = performance.now() + ${ms};
    while (performance.now() < end);
  }, 1000)`;
  socket.send(JSON.stringify({id: 1, method: 'Runtime.evaluate', params: {expression}}));
}

test('a kubelet whose event loop is blocked logs the stack, and ends if that does not pass', async () => {
  const directory = await temporaryDirectory();
  const manifests = join(directory, 'manifests');
  await mkdir(manifests);
  await using runtime = await FakeRuntime.start();
  const kcri = startKcriProcess(
    [
      ...['--runtime-endpoint', runtime.endpoint, 'kubelet', `--pod-manifest-path=${manifests}`],
      ...[`--root-dir=${directory}/root`, `--pod-logs-dir=${directory}/logs`, '--hostname-override=n1'],
      ...['--oom-score-adj=0', '--enable-server=false', '--healthz-port=0', '--v=2'],
    ],
    // Beside other processes with a debugger.
    {env: {NODE_OPTIONS: '--inspect-port=0'}},
  );
  await kcri.waitForOutput(/Starting kubelet main sync loop/);
  const socket = await openDebugger(kcri);

  block(socket, 8000);
  await kcri.waitForOutput(/"Event loop was blocked" err="blocked for \d+s" stack=[^]*blockedByTest/);
  block(socket, 3_600_000);

  const {stderr, exitCode} = await kcri.exited;
  expect(exitCode).toBeUndefined();
  expect(stderr).toMatch(
    /\nfatal: the event loop has been blocked for 30 s, ending the process; the main thread is in\n[^]*blockedByTest/,
  );
});
