import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {runPod, type RunningPod} from '../harness/run-pod.js';
import {startPrivateRuntime, type TestRuntime} from '../harness/test-runtime.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

describe.each(newestRuntime)('sessions over WebSocket: $name', (which) => {
  let runtime: TestRuntime;
  let pod: RunningPod;
  beforeAll(async () => {
    runtime = await startPrivateRuntime(which);
    pod = await runPod(runtime.connection, {
      name: 'talker',
      command: ['sh', '-c', 'while sleep 0.2; do echo tick; done'],
    });
  });
  afterAll(async () => {
    await runtime.stop();
  });

  const exec = (...words: readonly string[]) => ['exec', '--transport', 'websocket', ...words];

  test('exec separates the outputs and returns the exit code', async () => {
    const script = 'echo out; echo err >&2; exit 7';
    const result = await runtime.kcri(exec(pod.containerId, 'sh', '-c', script));
    expect(result).toMatchObject({stdout: 'out\n', exitCode: 7});
    expect(result.stderr).toMatch(/^err\n/);
  });

  test('exec transfers megabytes of output', async () => {
    const script = 'dd if=/dev/zero bs=1M count=64 2>/dev/null; echo end';
    const {stdout, exitCode} = await runtime.kcri(exec(pod.containerId, 'sh', '-c', script));
    expect({length: stdout.length, exitCode}).toEqual({length: 64 * 1024 * 1024 + 4, exitCode: 0});
  });

  test('exec transfers input, and reports that its end cannot be signaled', async () => {
    const words = exec('-i', pod.containerId, 'head', '-c', '5');
    const {stdout, stderr, exitCode} = await runtime.kcri(words, {input: 'hello and more'});
    expect({stdout, exitCode}).toEqual({stdout: 'hello', exitCode: 0});
    expect(stderr).toContain('cannot signal the end of standard input');
  });

  test("attach prints the container's output", async () => {
    const running = runtime.start(['attach', '--transport', 'websocket', pod.containerId]);
    onTestFinished(async () => {
      running.kill('SIGKILL');
      await running.exited;
    });
    await running.waitForOutput(/^tick\ntick\n/m);
    running.kill('SIGTERM');
    expect((await running.exited).exitCode).toBe(143);
  });
});
