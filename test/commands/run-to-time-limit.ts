import type {RunOptions, RunResult} from '../cli/run-kcri.js';
import {until} from '../base/until.js';
import {FakeClock, TEST_TIME_MS} from '../fakes/fake-clock.js';
import type {CommandTestbed} from './command-testbed.js';

/** Options of runToTimeLimit. */
export interface TimeLimitOptions extends Omit<RunOptions, 'clock' | 'onStdout' | 'onStderr'> {
  /** Time limit of the command, its `--timeout`, in ms. */
  readonly limitMs: number;
  /** Reports whether the output so far shows what is to happen before the time limit. */
  readonly isReached: (output: Pick<RunResult, 'stdout' | 'stderr'>) => boolean;
}

/** Runs kcri with a clock that stands still until a state is reached, and then passes the time limit. */
export async function runToTimeLimit(
  testbed: CommandTestbed,
  args: readonly string[],
  {limitMs, isReached, ...options}: TimeLimitOptions,
): Promise<RunResult> {
  const clock = new FakeClock({nowMs: TEST_TIME_MS});
  const output = {stdout: '', stderr: ''};
  const running = testbed.run([...args, '--timeout', `${limitMs}ms`], {
    ...options,
    clock,
    onStdout: (text) => (output.stdout += text),
    onStderr: (text) => (output.stderr += text),
  });
  await until(
    () => isReached(output),
    () => `${isReached.toString()} of ${JSON.stringify(output)}`,
  );
  clock.elapse(limitMs);
  return await running;
}
