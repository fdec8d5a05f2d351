import {PassThrough, Readable} from 'node:stream';
import {systemClock, type Clock} from '../../src/base/clock.js';
import {main} from './program.js';
import {calledAs} from '../../src/cli/process/called-as.js';
import {createProcessContext, type CliContext} from '../../src/cli/process/context.js';
import {omitProvenFlag} from '../evidence/omit-flag.js';
import {readOmittedSubject} from '../evidence/omitted-subject.js';
import {UNCREATABLE_CONFIG_FILE} from './uncreatable-path.js';

/** Options of a run of kcri in this process. */
export interface RunOptions {
  /** Endpoint of the runtime, set in the environment as by a user. */
  readonly endpoint?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** True if standard input is a terminal. */
  readonly interactive?: boolean;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly wellKnownEndpoints?: readonly string[];
  readonly defaultConfigFile?: string;
  /** File with the kernel's list of swap areas, by default this machine's. */
  readonly swapsFile?: string;
  /** Kubelet of the machine, by default none. */
  readonly localKubelet?: CliContext['localKubelet'];
  /** True if standard output is a terminal. */
  readonly terminal?: boolean;
  /** True if standard error is a terminal. */
  readonly errorTerminal?: boolean;
  /** Called with each chunk of standard output as it is written. */
  readonly onStdout?: (text: string) => void;
  /** Called with each chunk of standard error as it is written. */
  readonly onStderr?: (text: string) => void;
}

export interface RunResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** Runs a command line in this process, isolated from the machine's environment, config file and runtimes. */
export async function runKcri(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const stdout = collector(options.onStdout);
  const stderr = collector(options.onStderr);
  if (options.terminal === true) Object.assign(stdout.stream, {isTTY: true});
  if (options.errorTerminal === true) Object.assign(stderr.stream, {isTTY: true});
  const context: CliContext = {
    ...createProcessContext(options.signal),
    env: {
      // A sync need not wait for containers that a test knows to run.
      KCRI_MIN_READY: '0s',
      KCRI_TEST_DEVICE_PLUGINS_DIR: 'device-plugins',
      ...(options.endpoint === undefined ? {} : {CONTAINER_RUNTIME_ENDPOINT: options.endpoint}),
      ...options.env,
    },
    calledAs: calledAs(options.env ?? {}),
    // Standard input is that of the test.
    openStdin: undefined,
    stdin: Object.assign(Readable.from(options.stdin === undefined ? [] : [options.stdin]), {
      isTTY: options.interactive === true,
    }),
    stdout: stdout.stream,
    stderr: stderr.stream,
    clock: options.clock ?? systemClock,
    wellKnownEndpoints: options.wellKnownEndpoints ?? [],
    // Pods on a fake runtime must not get real cgroups.
    cgroupMount: undefined,
    localKubelet: options.localKubelet,
    ...(options.swapsFile !== undefined && {swapsFile: options.swapsFile}),
    defaultConfigFile: options.defaultConfigFile ?? UNCREATABLE_CONFIG_FILE,
  };
  const exitCode = await main(
    readOmittedSubject() === undefined ? args : await omitProvenFlag(args),
    context,
  );
  return {stdout: stdout.text(), stderr: stderr.text(), exitCode};
}

function collector(onText?: (text: string) => void): {stream: PassThrough; text: () => string} {
  const stream = new PassThrough({highWaterMark: 64 * 1024 * 1024});
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    onText?.(chunk.toString());
  });
  return {
    stream,
    text: () => {
      const rest = stream.read() as Buffer | null;
      return Buffer.concat(rest === null ? chunks : [...chunks, rest]).toString();
    },
  };
}
