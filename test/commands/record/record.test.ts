import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {InterruptedError} from '../../../src/cli/process/interrupt.js';
import {connect, type Connection} from '../../../src/cri/index.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {runKcri, type RunResult} from '../../cli/run-kcri.js';
import {SANDBOX_CONFIG} from '../../fakes/connected-fake-runtime.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';

interface Line {
  readonly [name: string]: unknown;
  readonly method?: string;
}

/** A recording by `kcri record` in this process, until `end` interrupts it. */
interface Recorder {
  readonly connection: Connection;
  readonly socket: string;
  readonly end: () => Promise<RunResult>;
}

/** Starts to record a runtime. */
async function startRecorder(runtime: FakeRuntime, ...args: string[]): Promise<Recorder> {
  const socket = join(await temporaryDirectory(), 'record.sock');
  const interrupt = new AbortController();
  let announce: (() => void) | undefined;
  const ready = new Promise<void>((resolve) => (announce = resolve));
  const running = runKcri(['record', `--listen=${socket}`, ...args], {
    endpoint: runtime.endpoint,
    signal: interrupt.signal,
    onStderr: (text) => {
      if (text.includes('recording calls')) announce?.();
    },
  });
  await Promise.race([ready, running]);
  const connection = connect(`unix://${socket}`);
  return {
    connection,
    socket,
    end: async () => {
      connection.close();
      interrupt.abort(new InterruptedError('SIGINT'));
      return await running;
    },
  };
}

const linesOf = (text: string): readonly Line[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

describe('record', () => {
  test('writes a line for each call, with its request, response and status', async () => {
    await using runtime = await FakeRuntime.start();
    const {connection, end} = await startRecorder(runtime);
    const {podSandboxId} = await connection.runtime.runPodSandbox({config: SANDBOX_CONFIG});
    await expect(connection.runtime.containerStatus({containerId: 'none' as never})).rejects.toThrow(
      'NotFound',
    );
    const {stdout, stderr, exitCode} = await end();
    expect({stderr, exitCode}).toEqual({
      stderr: expect.stringMatching(/^kcri: recording calls to .*\n$/) as string,
      exitCode: 0,
    });
    const [header, ...calls] = linesOf(stdout);
    expect(header).toMatchObject({recording: {version: 1, endpoint: runtime.endpoint}});
    expect(calls).toMatchObject([
      {
        call: 1,
        connection: 1,
        service: 'runtime.v1.RuntimeService',
        method: 'RunPodSandbox',
        code: 'OK',
        timeoutMs: expect.any(Number) as number,
        durationMs: expect.any(Number) as number,
        request: {config: {metadata: {name: 'web', namespace: 'default', uid: 'u1'}}},
        response: {podSandboxId},
      },
      {
        call: 2,
        method: 'ContainerStatus',
        code: 'NOT_FOUND',
        error: expect.stringContaining('none') as string,
      },
    ]);
  });
});
