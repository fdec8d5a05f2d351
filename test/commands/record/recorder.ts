import {join} from 'node:path';
import {InterruptedError} from '../../../src/cli/process/interrupt.js';
import {connect, type Connection} from '../../../src/cri/index.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {runKcri, type RunOptions, type RunResult} from '../../cli/run-kcri.js';
import type {FakeRuntime} from '../../fakes/fake-runtime.js';

/** A line of a recording. */
export interface RecordedLine {
  readonly [name: string]: unknown;
  readonly method?: string;
}

/** A recording by `kcri record` in this process. */
export interface Recorder {
  /** Connection through the recorder. */
  readonly connection: Connection;
  readonly endpoint: string;
  /** Returns what was written to standard error so far. */
  readonly stderr: () => string;
  /** Interrupts the recorder. */
  readonly end: () => Promise<RunResult>;
}

/** Starts to record a runtime, by default on a new socket. Resolves when the recorder listens, or rejects if it ends. */
export async function startRecorder(
  runtime: FakeRuntime,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<Recorder> {
  const swaps = args.includes('--swap');
  const socket = swaps ? runtime.socketPath : join(await temporaryDirectory(), 'record.sock');
  const interrupt = new AbortController();
  let stderr = '';
  const {promise: ready, announce} = announcement();
  const running = runKcri(['record', ...(swaps ? [] : [`--listen=${socket}`]), ...args], {
    endpoint: runtime.endpoint,
    signal: interrupt.signal,
    ...options,
    onStderr: (text) => {
      stderr += text;
      if (text.includes('recording calls')) announce();
    },
  });
  const early = await Promise.race([ready, running]);
  if (early !== undefined) throw new Error(early.stderr);
  const connection = connect(`unix://${socket}`);
  return {
    connection,
    endpoint: `unix://${socket}`,
    stderr: () => stderr,
    end: async () => {
      connection.close();
      interrupt.abort(new InterruptedError('SIGINT'));
      return await running;
    },
  };
}

function announcement(): {promise: Promise<undefined>; announce: () => void} {
  let announce = (): void => undefined;
  const promise = new Promise<undefined>((resolve) => {
    announce = () => {
      resolve(undefined);
    };
  });
  return {
    promise,
    announce: () => {
      announce();
    },
  };
}

/** Parses the lines of a recording. */
export function parseLines(text: string): readonly RecordedLine[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordedLine);
}
