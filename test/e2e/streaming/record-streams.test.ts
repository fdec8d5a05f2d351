import {once} from 'node:events';
import {readFile} from 'node:fs/promises';
import {connect} from 'node:net';
import {join} from 'node:path';
import {text} from 'node:stream/consumers';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {parseLines, type RecordedLine} from '../../commands/record/recorder.js';
import {KCRI_COMMAND} from '../../kcri-command.js';
import type {KcriProcess} from '../harness/kcri-process.js';
import {runPod, type RunningPod} from '../harness/run-pod.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';
import {startPrivateRuntime, type TestRuntime} from '../harness/test-runtime.js';
import {TmuxTerminal} from '../harness/tmux-terminal.js';

const PORT = 8080;
const TALK = `httpd -p ${PORT} -h /etc; while sleep 0.2; do echo tick; done`;

describe.each(newestRuntime)('record --streams: $name', (which) => {
  let runtime: TestRuntime;
  let pod: RunningPod;
  beforeAll(async () => {
    runtime = await startPrivateRuntime(which);
    pod = await runPod(runtime.connection, {name: 'streams', command: ['sh', '-c', TALK]});
  });
  afterAll(async () => {
    await runtime.stop();
  });

  /** Starts to record at the runtime's own socket. */
  async function startRecorder(name: string) {
    const file = join(runtime.rootDir, `${name}.jsonl`);
    const recorder = runtime.start([
      ...['record', '--swap', `--file=${file}`, '--streams', '--keep-output', '--keep-input'],
    ]);
    await recorder.waitForOutput(/recording calls/);
    onTestFinished(() => endOf(recorder, 'SIGKILL'));
    const read = async (): Promise<readonly RecordedLine[]> => parseLines(await readFile(file, 'utf8'));
    return {file, recorder, read};
  }

  async function endOf(running: KcriProcess, signal: NodeJS.Signals): Promise<void> {
    running.kill(signal);
    await running.exited;
  }

  /** Returns the content of a stream in one direction. */
  const contentOf = (lines: readonly RecordedLine[], session: number, stream: string): string =>
    lines
      .filter((line) => line['session'] === session && line['stream'] === stream)
      .map((line) => (line['text'] as string | undefined) ?? '')
      .join('');

  test('records exec with input, and exec over WebSocket', async () => {
    const {file, recorder, read} = await startRecorder('exec');
    const script = 'tr a-z A-Z; echo err >&2; exit 7';
    const exec = await runtime.kcri(['exec', '-i', pod.containerId, 'sh', '-c', script], {input: 'words\n'});
    expect(exec).toMatchObject({stdout: 'WORDS\n', exitCode: 7});
    const size = 8 * 1024 * 1024;
    const words = ['sh', '-c', `head -c ${size} /dev/zero`];
    const other = await runtime.kcri(['exec', '--transport=websocket', pod.containerId, ...words]);
    expect(other.stdout).toHaveLength(size);
    await endOf(recorder, 'SIGINT');
    const lines = await read();
    expect(contentOf(lines, 1, 'stdin')).toBe('words\n');
    expect(contentOf(lines, 1, 'stdout')).toBe('WORDS\n');
    expect(contentOf(lines, 1, 'stderr')).toContain('err\n');
    expect(contentOf(lines, 1, 'error')).toContain('NonZeroExitCode');
    const ends = lines.filter(({event}) => event === 'end');
    expect(ends[1]).toMatchObject({session: 2, status: 101, subprotocol: 'v4.channel.k8s.io'});
    expect((ends[1]!['bytes'] as {server: number}).server).toBeGreaterThanOrEqual(size);
    // What reads calls ignores the lines of sessions.
    expect((await runtime.kcri(['record', 'diff', file, file])).exitCode).toBe(0);
    expect(await runtime.kcri(['timeline', file])).toMatchObject({exitCode: expect.any(Number) as number});
  });

  test('records a terminal with its size', async () => {
    const {recorder, read} = await startRecorder('terminal');
    using terminal = new TmuxTerminal(80, 24, {
      CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint,
      K: KCRI_COMMAND.join(' '),
      C: pod.containerId,
    });
    terminal.typeLine('$K exec -it $C sh');
    await terminal.waitForScreen(/# *$/m);
    terminal.resize(100, 30);
    terminal.typeLine('until stty size | grep "^30 100$"; do sleep 0.05; done; exit 4');
    await until(async () => (await read()).some(({event}) => event === 'end'));
    await endOf(recorder, 'SIGINT');
    const lines = await read();
    expect(contentOf(lines, 1, 'resize')).toContain('{"Width":80,"Height":24}');
    expect(contentOf(lines, 1, 'resize')).toContain('{"Width":100,"Height":30}');
    expect(contentOf(lines, 1, 'stdout')).toContain('30 100\r\n');
    expect(contentOf(lines, 1, 'error')).toContain('"4"');
  });

  test('records attach until the client is killed', async () => {
    const {recorder, read} = await startRecorder('attach');
    const attached = runtime.start(['attach', pod.containerId]);
    await attached.waitForOutput(/^tick\ntick\n/m);
    await endOf(attached, 'SIGKILL');
    await until(async () => (await read()).some(({event}) => event === 'end'));
    await endOf(recorder, 'SIGINT');
    const lines = await read();
    expect(contentOf(lines, 1, 'stdout')).toContain('tick\ntick\n');
    expect(lines.find(({event}) => event === 'end')).toMatchObject({endedBy: 'client'});
  });

  test('records port-forward, and a killed recorder leaves the runtime as it was', async () => {
    const {recorder, read} = await startRecorder('port-forward');
    const forwarding = runtime.start(['port-forward', pod.podSandboxId, `:${PORT}`]);
    onTestFinished(() => endOf(forwarding, 'SIGKILL'));
    const [, port] = await forwarding.waitForOutput(/127\.0\.0\.1:(\d+) ->/);
    const socket = connect({port: Number(port), host: '127.0.0.1'});
    await once(socket, 'connect');
    socket.write('GET /hostname HTTP/1.0\r\n\r\n');
    expect(await text(socket)).toContain('200 OK');
    await until(async () => (await read()).some((line) => String(line['text']).includes('200 OK')));
    const lines = await read();
    const sent = lines.find((line) => line['stream'] === 'data' && line['from'] === 'client');
    expect(sent).toMatchObject({port: PORT, text: expect.stringContaining('GET /hostname') as string});
    await endOf(recorder, 'SIGKILL');
    await until(
      async () => (await runtime.kcri(['exec', pod.containerId, 'echo', 'still'])).stdout === 'still\n',
    );
  });
});
