import {spawn} from 'node:child_process';
import {setTimeout as delay} from 'node:timers/promises';
import {until} from '../../base/until.js';
import {KCRI_COMMAND, throughLink} from '../../kcri-command.js';

/** Result of a run of kcri. */
export interface KcriResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Undefined if a signal ended it. */
  readonly exitCode: number | undefined;
}

/** Options of a run of kcri. */
export interface KcriOptions {
  /** Variables in addition to this process's environment, which is used without its endpoint and root directory. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Standard input; empty by default. */
  readonly input?: string;
  readonly cwd?: string;
  /** Link to the program (KCRI_FILE), to call it by another name. */
  readonly program?: string;
  /** Signal that ends it with SIGTERM. */
  readonly signal?: AbortSignal;
}

const OWN_VARIABLES = {
  CONTAINER_RUNTIME_ENDPOINT: undefined,
  IMAGE_SERVICE_ENDPOINT: undefined,
  CRI_CONFIG_FILE: undefined,
  KCRI_ROOT_DIR: undefined,
  // Below the root directory: several kubelets run at once.
  KCRI_TEST_DEVICE_PLUGINS_DIR: 'device-plugins',
};

/** A running kcri. */
export interface KcriProcess {
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the match of standard output followed by standard error; rejects if kcri exits before. */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>;
  readonly exited: Promise<KcriResult>;
}

/** Runs the built kcri in a separate process until it exits. */
export async function runKcriProcess(
  args: readonly string[],
  options: KcriOptions = {},
): Promise<KcriResult> {
  return await startKcriProcess(args, options).exited;
}

/** Starts the built kcri in a separate process. */
export function startKcriProcess(args: readonly string[], options: KcriOptions = {}): KcriProcess {
  const [program, ...before] = options.program === undefined ? KCRI_COMMAND : throughLink(options.program);
  const child = spawn(program, [...before, ...args], {
    cwd: options.cwd,
    env: {...process.env, ...OWN_VARIABLES, ...options.env},
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  options.signal?.addEventListener('abort', () => child.kill('SIGTERM'), {once: true});
  const output = {stdout: '', stderr: ''};
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  // A command that reads nothing may have exited before the input is written.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  const ended = new Promise<KcriResult>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({...output, exitCode: code ?? undefined});
    });
  });
  const waitForOutput = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const match = pattern.exec(output.stdout + output.stderr);
      if (match !== null) return match;
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`kcri ended without printing ${String(pattern)}: ${output.stdout}${output.stderr}`);
      await delay(5);
    }
  };
  return {kill: (signal) => child.kill(signal), waitForOutput, exited: ended};
}

/** The flag of a sync that waits for failed pods, without a limit that a test reaches. */
export const WAIT_FOR_FAILED = '--timeout=1h';

/** Interrupts a sync when the condition holds. */
export async function interruptWhen(condition: () => Promise<boolean>, sync: KcriProcess): Promise<void> {
  try {
    await until(condition);
  } finally {
    sync.kill('SIGINT');
  }
  const {exitCode, stderr} = await sync.exited;
  if (exitCode !== 130) throw new Error(`the sync ended with ${exitCode}: ${stderr}`);
}
