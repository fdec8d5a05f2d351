import {PassThrough, Readable} from 'node:stream';
import {systemClock, type Clock} from '../../src/base/clock.js';
import {processContext} from '../../src/cli/context.js';
import {main} from '../cli/program.js';
import type {Terminal} from '../cli/sync-view/terminal.js';
import {InterruptedError} from '../../src/cli/interrupt.js';

/** Time goes by, and nobody waits for it longer than it takes the fake runtime to count on, in milliseconds. */
export const QUICK: Clock = {
  now: () => systemClock.now(),
  sleep: async (_ms, signal) => {
    await systemClock.sleep(2, signal);
  },
};

/** What Ctrl-C does, as soon as the text that is shown matches. */
export function interruptAt(pattern: RegExp): {signal: AbortSignal; onStdout: (text: string) => void} {
  const controller = new AbortController();
  let shown = '';
  return {
    signal: controller.signal,
    onStdout: (text) => {
      shown += text;
      if (pattern.test(shown)) controller.abort(new InterruptedError('SIGINT'));
    },
  };
}

/** Runs kcri in this process on a terminal. */
export async function runOn(
  terminal: Terminal,
  args: readonly string[],
  {endpoint, signal}: {readonly endpoint: string; readonly signal: AbortSignal},
): Promise<{exitCode: number; stderr: string}> {
  const stderr = new PassThrough({highWaterMark: 2 ** 26});
  const exitCode = await main(args, {
    ...processContext(signal),
    env: {CONTAINER_RUNTIME_ENDPOINT: endpoint},
    stdin: Readable.from([]),
    stdout: terminal.stream,
    stderr,
    clock: QUICK,
    wellKnownEndpoints: [],
    defaultConfigFile: '/nonexistent/crictl.yaml',
    cgroupMount: undefined,
  });
  return {exitCode, stderr: ((stderr.read() as Buffer | null) ?? '').toString()};
}
