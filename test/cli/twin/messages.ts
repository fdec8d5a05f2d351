/*
 * What is said between the tests and the twin of the executable, one JSON text a line. Standard input brings the twin
 * ToTwin, its standard output brings FromTwin, and what the clock says comes as eight bytes on a pipe of its own: the
 * twin waits for it.
 */

/** The pipe on which the twin is told the time, as a double in little endian. */
export const TIME_FD = 3;

export const OUTPUTS = ['stdout', 'stderr'] as const;
export type OutputName = (typeof OUTPUTS)[number];

/** A stream that is written to, as far as the program may look at it. */
export interface OutputShape {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** An error of a stream, as Node.js has it. */
export interface StreamFault {
  readonly message: string;
  readonly code?: string;
  readonly errno?: number;
  readonly syscall?: string;
}

/** Why a run is to end: see src/cli/interrupt.ts, or the name and message of what an AbortSignal has by itself. */
export type Interruption =
  | {readonly signal: 'SIGINT' | 'SIGTERM'; readonly options: {readonly compat: boolean}}
  | {readonly signal?: undefined; readonly name: string; readonly message: string};

/** The context of a run, without what comes and goes by messages; see CliContext. */
export interface TwinContext {
  readonly env: Readonly<Record<string, string>>;
  readonly stdinIsTTY: boolean;
  readonly stdout: OutputShape;
  /** `same` when both are one stream. */
  readonly stderr: OutputShape | 'same';
  /** Time is the machine's; else each question about it is asked. */
  readonly systemClock: boolean;
  readonly wellKnownEndpoints: readonly string[];
  readonly defaultConfigFile: string;
  readonly cgroupMount: string | null;
  readonly swapsFile: string;
  readonly program: readonly string[];
  readonly compat: boolean;
}

/** What the twin is told about the run `run`. */
export type ToTwin = {readonly run: number} & (
  | {readonly kind: 'start'; readonly argv: readonly string[]; readonly context: TwinContext}
  | {readonly kind: 'input'; readonly base64: string | null}
  | {readonly kind: 'written'; readonly name: OutputName; readonly fault?: StreamFault}
  | {readonly kind: 'slept'; readonly sleep: number}
  | {readonly kind: 'interrupt'; readonly interruption: Interruption}
);

/** What the twin says about the run `run`. */
export type FromTwin = {readonly run: number} & (
  | {readonly kind: 'read'}
  | {readonly kind: 'write'; readonly name: OutputName; readonly base64: string}
  | {readonly kind: 'now'}
  | {readonly kind: 'sleep'; readonly sleep: number; readonly ms: number}
  | {readonly kind: 'wake'; readonly sleep: number}
  | {readonly kind: 'end'; readonly exitCode: number}
);
