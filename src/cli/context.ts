import {basename} from 'node:path';
import type {Readable} from 'node:stream';
import {systemClock, type Clock} from '../base/clock.js';
import {WELL_KNOWN_ENDPOINTS} from '../cri/endpoint.js';
import {standardOutput, type OutputStream} from './standard-output.js';

/** The stream that a command reads from. */
export type InputStream = Readable & {readonly isTTY?: boolean};

/** Everything outside the command line that a command may depend on; tests bring their own. */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly clock: Clock;
  /** Aborted by Ctrl-C or SIGTERM with the error to show. */
  readonly signal: AbortSignal;
  /** Where runtimes are looked for when no endpoint is given. */
  readonly wellKnownEndpoints: readonly string[];
  /** The config file that is read when none is named. */
  readonly defaultConfigFile: string;
  /** Where the machine's cgroup file systems are. */
  readonly cgroupMount: string | undefined;
  /** Where the kernel says what it swaps to. */
  readonly swapsFile: string;
  /** How this program is started: its file, which follows that of Node.js unless it needs none. */
  readonly program: readonly string[];
  /** Behave as crictl to the byte, faults included: run under its name, or asked to by KCRI_COMPAT. */
  readonly compat: boolean;
}

/** What starts this process's program, see CliContext. */
const SCRIPT: readonly string[] = process.argv.slice(0, 2);

/** The context of this process. Without a signal nothing interrupts the command but the process's end. */
export function processContext(
  signal: AbortSignal = new AbortController().signal,
  program = SCRIPT,
): CliContext {
  let stdout: OutputStream | undefined;
  let stderr: OutputStream | undefined;
  return {
    env: process.env,
    // Node.js opens a standard stream when it is first asked for; most commands read no input.
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      return (stdout ??= standardOutput(1));
    },
    get stderr() {
      return (stderr ??= standardOutput(2));
    },
    clock: systemClock,
    signal,
    wellKnownEndpoints: WELL_KNOWN_ENDPOINTS,
    defaultConfigFile: '/etc/crictl.yaml',
    cgroupMount: '/sys/fs/cgroup',
    swapsFile: '/proc/swaps',
    program,
    compat: calledAsCrictl(program),
  };
}

/** Whether this process was called as crictl. */
export function calledAsCrictl(program = SCRIPT): boolean {
  return isCompat(process.env, program.at(-1)) || isCompat({}, process.argv0);
}

/** Whether kcri was called as crictl: by the program's name (a link to it), or with KCRI_COMPAT=crictl. */
export function isCompat(env: CliContext['env'], program = ''): boolean {
  return env['KCRI_COMPAT'] === 'crictl' || basename(program) === 'crictl';
}
