import {spawn, type ChildProcess} from 'node:child_process';
import {constants} from 'node:os';
import {basename} from 'node:path';
import {onAbort} from '../../base/async/abort-callbacks.js';
import {SystemError} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';

/** Text in arguments that stands for the recorder's endpoint. */
const PLACEHOLDER = '{endpoint}';
const KUBELET_FLAG = '--container-runtime-endpoint';

/** Command line of a program. */
export interface ProgramLine {
  readonly program: string;
  readonly args: readonly string[];
}

/**
 * Returns the command line with which a program uses an endpoint: `{endpoint}` is replaced, and a kubelet gets its flag,
 * unless it has one.
 */
export function programWithEndpoint(
  [program = '', ...words]: readonly string[],
  endpoint: string,
): ProgramLine {
  const args = words.map((word) => word.replaceAll(PLACEHOLDER, endpoint));
  const needsFlag =
    basename(program) === 'kubelet' && !args.some((arg) => arg.split('=', 1)[0] === KUBELET_FLAG);
  return {program, args: needsFlag ? [`${KUBELET_FLAG}=${endpoint}`, ...args] : args};
}

/** Options of a program that is run with an endpoint. */
export interface RunProgramOptions {
  /** Endpoint of the recorder, which crictl, kcri and others read from the environment. */
  readonly endpoint: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts with the signal that this process got. */
  readonly signal: AbortSignal;
  /** True if the program gets signals of the terminal itself. */
  readonly hasTerminal: boolean;
}

/**
 * Runs a program with this process's standard streams until it ends, and passes interruptions on. Resolves with its exit
 * code, 128 + n if signal n ended it. Rejects with SystemError if it cannot be started.
 */
export async function runWithEndpoint(words: readonly string[], options: RunProgramOptions): Promise<number> {
  const {endpoint, env, signal, hasTerminal} = options;
  const {program, args} = programWithEndpoint(words, endpoint);
  const child = spawn(program, args, {
    stdio: 'inherit',
    env: {...env, CONTAINER_RUNTIME_ENDPOINT: endpoint, IMAGE_SERVICE_ENDPOINT: endpoint},
  });
  const interrupt = (): void => {
    const isTerminated = (signal.reason as {exitCode?: unknown}).exitCode === 128 + constants.signals.SIGTERM;
    if (isTerminated) child.kill('SIGTERM');
    else if (!hasTerminal) child.kill('SIGINT');
  };
  const forget = onAbort(signal, interrupt);
  if (signal.aborted) interrupt();
  try {
    return await exitCodeOf(child, program);
  } finally {
    forget();
  }
}

async function exitCodeOf(child: ChildProcess, program: string): Promise<number> {
  return await new Promise((resolve, reject) => {
    child.once('error', (error) => {
      reject(new SystemError(`starting "${program}": ${systemErrorMessage(error)}`, {cause: error}));
    });
    child.once('exit', (code, name) => {
      resolve(code ?? 128 + (name === null ? 0 : constants.signals[name]));
    });
  });
}
