import {lstat} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {InterruptedError} from '../../../src/cli/process/interrupt.js';
import {connect, containerId} from '../../../src/cri/index.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {FakeTerminal} from '../../cli/terminal/fake-terminal.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {runKcriOnTerminal} from '../interrupt-watch.js';
import {startRecorder} from './recorder.js';

// Proves: record --summary, record --output
test('--summary prints one table at the end, or JSON', async () => {
  await using runtime = await FakeRuntime.start();
  const {connection, end} = await startRecorder(runtime, ['--summary']);
  await connection.runtime.version();
  await connection.runtime.version();
  await connection.runtime.containerStatus({containerId: containerId('none')}).catch(() => undefined);
  const {stdout} = await end();
  expect(stdout).toMatch(
    /^METHOD +CALLS +ERRORS +OPEN +P50\(ms\) +P90\(ms\) +P99\(ms\) +MAX\(ms\)\nVersion +2 +0 +0 +[\d.]+ .*\nContainerStatus +1 +1 +0 /,
  );
  const bare = await startRecorder(runtime, ['--summary', '--no-headers']);
  await bare.connection.runtime.version();
  expect((await bare.end()).stdout).toMatch(/^Version +1 +0 +0 /);
  const asJson = await startRecorder(runtime, ['--summary', '-o', 'json']);
  await asJson.connection.runtime.version();
  const json = (await asJson.end()).stdout;
  const {methods} = JSON.parse(json) as {methods: unknown};
  expect(json).toMatch(/"maxMs": \d+(\.\d{1,3})?,/);
  expect(methods).toMatchObject([{method: 'Version', calls: 1, errors: 0, open: 0}]);
});

test.each([
  ['xterm', 100, 30, 2],
  ['xterm', 30, 4, 2],
  ['dumb', 100, 30, 0],
])(
  '--summary is live on a terminal (%s, %i columns, %i rows), and whole at the end',
  async (TERM, columns, rows, frames) => {
    await using runtime = await FakeRuntime.start();
    const terminal = new FakeTerminal(columns, rows);
    let drawn = '';
    terminal.stream.on('data', (chunk: Buffer) => {
      drawn += chunk.toString();
    });
    const interrupt = new AbortController();
    const socket = join(await temporaryDirectory(), 'record.sock');
    const running = runKcriOnTerminal(terminal, ['record', `--listen=${socket}`, '--summary'], {
      endpoint: runtime.endpoint,
      signal: interrupt.signal,
      env: {TERM},
    });
    await until(
      async () =>
        await lstat(`${socket}.kcri-recorded`).then(
          () => true,
          () => false,
        ),
    );
    using connection = connect(`unix://${socket}`);
    await connection.runtime.version();
    await connection.runtime.listContainers();
    await connection.runtime.listPodSandbox();
    await connection.images.listImages();
    await until(() => drawn.split('CALLS').length > frames);
    interrupt.abort(new InterruptedError('SIGINT'));
    expect((await running).exitCode).toBe(0);
    expect(terminal.text.split('\n').map((line) => line.split(/ {2,}/).slice(0, 2))).toEqual([
      ['METHOD', 'CALLS'],
      ...['ListContainers', 'ListImages', 'ListPodSandbox', 'Version'].map((method) => [method, '1']),
    ]);
    expect(terminal.text).toContain('MAX(ms)');
    expect(terminal.cursorVisible).toBe(true);
    expect(drawn.includes('\u001B')).toBe(TERM !== 'dumb');
  },
);
