import type {CalledAs} from '../../../src/cli/process/called-as.js';

/*
 * Protocol between the tests and the worker: one JSON message per line, ToWorker on standard input and FromWorker on
 * standard output. The time is sent as eight bytes on a separate pipe, since the worker blocks until it has it.
 */

/** File descriptor of the pipe on which the worker receives the time, as a little-endian double. */
export const TIME_FD = 3;

export const OUTPUTS = ['stdout', 'stderr'] as const;
export type OutputName = (typeof OUTPUTS)[number];

/** Properties of an output stream that the program can inspect. */
export interface OutputShape {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** A stream error, with the fields of Node.js' errors. */
export interface StreamError {
  readonly message: string;
  readonly code?: string;
  readonly errno?: number;
  readonly syscall?: string;
}

/**
 * Reason for interrupting a run: a signal of src/cli/process/interrupt.ts, or the name and message of an AbortSignal's default
 * reason.
 */
export type Interruption =
  | {readonly signal: 'SIGINT' | 'SIGTERM'; readonly options: {readonly compat: boolean}}
  | {readonly signal?: undefined; readonly name: string; readonly message: string};

/** Context of a run, without its streams, clock and signal, which are replaced by messages. See CliContext. */
export interface WorkerContext {
  readonly env: Readonly<Record<string, string>>;
  readonly stdinIsTTY: boolean;
  readonly stdout: OutputShape;
  /** `same` if both are one stream. */
  readonly stderr: OutputShape | 'same';
  /** True if the clock is the system's. If not, the worker asks for the time and sleeps by messages. */
  readonly systemClock: boolean;
  readonly wellKnownEndpoints: readonly string[];
  readonly defaultConfigFile: string;
  readonly cgroupMount: string | null;
  readonly swapsFile: string;
  readonly program: readonly string[];
  readonly calledAs: CalledAs;
}

/** Message to the worker about the run `run`. */
export type ToWorker = {readonly run: number} & (
  | {readonly kind: 'start'; readonly argv: readonly string[]; readonly context: WorkerContext}
  | {readonly kind: 'input'; readonly base64: string | null}
  | {readonly kind: 'written'; readonly name: OutputName; readonly error?: StreamError}
  | {readonly kind: 'slept'; readonly sleep: number}
  | {readonly kind: 'interrupt'; readonly interruption: Interruption}
);

/** Message from the worker about the run `run`. */
export type FromWorker = {readonly run: number} & (
  | {readonly kind: 'read'}
  | {readonly kind: 'write'; readonly name: OutputName; readonly base64: string}
  | {readonly kind: 'now'}
  | {readonly kind: 'sleep'; readonly sleep: number; readonly ms: number}
  | {readonly kind: 'wake'; readonly sleep: number}
  | {readonly kind: 'end'; readonly exitCode: number}
);
