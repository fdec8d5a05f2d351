import {PassThrough, Readable} from 'node:stream';
import {createProcessContext} from '../../src/cli/process/context.js';
import {main} from '../cli/program.js';
import {realTimeClock} from '../fakes/fake-clock.js';
import type {FakeTerminal} from '../cli/terminal/fake-terminal.js';
import {InterruptedError} from '../../src/cli/process/interrupt.js';
import {UNCREATABLE_CONFIG_FILE} from '../cli/uncreatable-path.js';

/** A clock whose sleeps are short, but long enough that the fake runtime's time advances. */
export const FAST_CLOCK = realTimeClock({sleepMs: () => 2});

/** Returns run options that interrupt kcri as soon as its output matches. */
export function interruptAt(pattern: RegExp): {signal: AbortSignal; onStdout: (text: string) => void} {
  const controller = new AbortController();
  let output = '';
  return {
    signal: controller.signal,
    onStdout: (text) => {
      output += text;
      if (pattern.test(output)) controller.abort(new InterruptedError('SIGINT'));
    },
  };
}

/** Runs kcri in this process on a terminal. */
export async function runKcriOnTerminal(
  terminal: FakeTerminal,
  args: readonly string[],
  {
    endpoint,
    signal,
    env = {},
  }: {
    readonly endpoint: string;
    readonly signal: AbortSignal;
    readonly env?: Readonly<Record<string, string>>;
  },
): Promise<{exitCode: number; stderr: string}> {
  const stderr = new PassThrough({highWaterMark: 2 ** 26});
  const exitCode = await main(args, {
    ...createProcessContext(signal),
    env: {CONTAINER_RUNTIME_ENDPOINT: endpoint, ...env},
    stdin: Readable.from([]),
    stdout: terminal.stream,
    stderr,
    clock: FAST_CLOCK,
    wellKnownEndpoints: [],
    defaultConfigFile: UNCREATABLE_CONFIG_FILE,
    cgroupMount: undefined,
  });
  return {exitCode, stderr: ((stderr.read() as Buffer | null) ?? '').toString()};
}
