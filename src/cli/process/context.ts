import {systemClock, type Clock} from '../../base/clock.js';
import {WELL_KNOWN_ENDPOINTS} from '../../cri/endpoint.js';
import {processCalledAs, SCRIPT, type CalledAs} from './called-as.js';
import type {InputStream} from './standard-input.js';
import {openStandardOutput, type OutputStream} from './standard-output.js';

/** Addresses of the API of a kubelet on this machine, and client certificates that it may accept. */
export interface LocalKubelet {
  /** Port without authentication (readOnlyPort). */
  readonly readOnlyPort: number;
  /** Port with TLS and authentication. */
  readonly port: number;
  /** Files with a client certificate and its key, in PEM or as a kubeconfig; only root can read them. */
  readonly credentials: readonly {readonly cert: string; readonly key: string}[];
  /** Root directory with the directories of its pods; not read if undefined. */
  readonly rootDir?: string;
}

/** Environment of a command other than its command line; tests replace it. */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: InputStream;
  /** Opens `stdin` more cheaply than the property does, unless it is open; undefined if `stdin` is not that of the process. */
  readonly openStdin?: (() => Promise<InputStream>) | undefined;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly clock: Clock;
  /** Start of the program, in ms since the epoch. */
  readonly startedAtMs: number;
  /** Signal that Ctrl-C or SIGTERM aborts, with the error to show. */
  readonly signal: AbortSignal;
  /** Well-known endpoints that are searched when no endpoint is given. */
  readonly wellKnownEndpoints: readonly string[];
  /** Path of the default config file. */
  readonly defaultConfigFile: string;
  /** Mount point of the cgroup filesystems. */
  readonly cgroupMount: string | undefined;
  /** File in which the kernel lists its swap devices. */
  readonly swapsFile: string;
  /** The kubelet of this machine to ask for its pods: the default ports and files, another place, or none. */
  readonly localKubelet?: 'default' | LocalKubelet | undefined;
  /** True if the command is all that the process does: a kubelet that hangs may then end it. */
  readonly ownsProcess?: boolean;
  /** Command that starts this program: Node.js and the file of the program, or only the executable. */
  readonly program: readonly string[];
  /** Name under which kcri runs: as crictl it reproduces crictl byte for byte, including its faults. */
  readonly calledAs: CalledAs;
}

/** Returns the context of this process. Without a signal the command cannot be interrupted. */
export function createProcessContext(
  signal: AbortSignal = new AbortController().signal,
  program = SCRIPT,
): CliContext {
  let stdin: InputStream | undefined;
  let stdout: OutputStream | undefined;
  let stderr: OutputStream | undefined;
  return {
    env: process.env,
    // Node.js opens a standard stream on first access, and most commands read no input.
    get stdin() {
      return (stdin ??= process.stdin);
    },
    openStdin: async () => {
      const {openStandardInput} = await import('./standard-input.js');
      return (stdin ??= openStandardInput());
    },
    get stdout() {
      return (stdout ??= openStandardOutput(1));
    },
    get stderr() {
      return (stderr ??= openStandardOutput(2));
    },
    clock: systemClock,
    startedAtMs: systemClock.now(),
    signal,
    wellKnownEndpoints: WELL_KNOWN_ENDPOINTS,
    defaultConfigFile: '/etc/crictl.yaml',
    cgroupMount: '/sys/fs/cgroup',
    swapsFile: '/proc/swaps',
    localKubelet: 'default',
    program,
    calledAs: processCalledAs(program),
  };
}
