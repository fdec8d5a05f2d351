import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {runKcri} from '../../cli/run-kcri.js';
import {createTestbed} from '../command-testbed.js';

/** Receives datagrams on a Unix socket, which Node.js cannot, and prints each as a line. */
const RECEIVER = `$| = 1; use Socket; socket(S, AF_UNIX, SOCK_DGRAM, 0) or die; bind(S, sockaddr_un($ARGV[0])) or die;
print "bound\\n"; while (defined(recv(S, my $m, 4096, 0))) { $m =~ s/\\n/ /g; print "$m\\n"; }`;

/** Line of klog, as log parsers expect it. */
const KLOG_LINE = /^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ [^:\]\s]+:\d+\] "/;

async function receive(socket: string): Promise<() => readonly string[]> {
  const receiver = spawn('perl', ['-e', RECEIVER, socket], {stdio: ['ignore', 'pipe', 'inherit']});
  let text = '';
  receiver.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  onTestFinished(async () => {
    receiver.kill();
    await once(receiver, 'close');
  });
  await until(() => text.startsWith('bound\n'));
  // systemd-notify waits until its message is received.
  return () => text.split('\n').filter((line) => !/^(bound|BARRIER=1|)$/.test(line));
}

test('systemd receives READY=1 when the kubelet serves /healthz, WATCHDOG=1 while it is healthy, and STOPPING=1', async () => {
  const testbed = await createTestbed();
  const socket = join(testbed.directory, 'notify');
  const received = await receive(socket);
  const end = new AbortController();
  const flags = ['--fail-swap-on=false', '--enable-server=false', '--healthz-port=0', '--read-only-port=0'];
  const running = runKcri(
    [
      ...flags,
      `--container-runtime-endpoint=${testbed.runtime.endpoint}`,
      `--root-dir=${testbed.rootDir}`,
      `--cert-dir=${testbed.rootDir}/pki`,
    ],
    {
      env: {
        KCRI_COMPAT: 'kubelet',
        PATH: process.env['PATH'] ?? '',
        NOTIFY_SOCKET: socket,
        WATCHDOG_USEC: '200000',
        WATCHDOG_PID: String(process.pid),
      },
      signal: end.signal,
    },
  );
  await until(() => received().filter((line) => line === 'WATCHDOG=1').length > 1);
  end.abort();
  const {exitCode, stderr} = await running;
  expect(exitCode).toBe(0);
  const others = stderr.split('\n').filter((line) => !KLOG_LINE.test(line) && !/^(Flag --.*|)$/.test(line));
  expect(others).toEqual([]);
  await until(() => received().includes('STOPPING=1'));
  const lines = received();
  expect(lines[0]).toBe(`READY=1 MAINPID=${process.pid}`);
  expect(new Set(lines.slice(1))).toEqual(new Set(['WATCHDOG=1', 'STOPPING=1']));
});
