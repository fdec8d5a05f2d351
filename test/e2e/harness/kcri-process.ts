import {spawn} from 'node:child_process';
import {setTimeout as delay} from 'node:timers/promises';
import {KCRI_COMMAND, throughLink} from '../../kcri-command.js';

/** What a run of kcri came to. */
export interface KcriResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Undefined when a signal ended it. */
  readonly exitCode: number | undefined;
}

/** How to run kcri. */
export interface KcriOptions {
  /** On top of this process's environment, without its endpoint and root directory. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What it reads from standard input; default nothing. */
  readonly input?: string;
  readonly cwd?: string;
  /** A link to the program (KCRI_FILE), whose name may matter. */
  readonly program?: string;
  /** Ends it with SIGTERM. */
  readonly signal?: AbortSignal;
}

const OWN_VARIABLES = {
  CONTAINER_RUNTIME_ENDPOINT: undefined,
  IMAGE_SERVICE_ENDPOINT: undefined,
  CRI_CONFIG_FILE: undefined,
  KCRI_ROOT_DIR: undefined,
};

/** A kcri that runs. */
export interface KcriProcess {
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the match when standard output and error together have matched; rejects when kcri ends before. */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>;
  readonly exited: Promise<KcriResult>;
}

/** Runs the built kcri to its end, as a process of its own. */
export async function runKcriProcess(
  args: readonly string[],
  options: KcriOptions = {},
): Promise<KcriResult> {
  return await startKcriProcess(args, options).exited;
}

/** Starts the built kcri as a process of its own. */
export function startKcriProcess(args: readonly string[], options: KcriOptions = {}): KcriProcess {
  const [program, ...before] = options.program === undefined ? KCRI_COMMAND : throughLink(options.program);
  const child = spawn(program, [...before, ...args], {
    cwd: options.cwd,
    env: {...process.env, ...OWN_VARIABLES, ...options.env},
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  options.signal?.addEventListener('abort', () => child.kill('SIGTERM'), {once: true});
  const said = {stdout: '', stderr: ''};
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.stderr += text));
  // A command that reads nothing may have ended before the input is written.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  const ended = new Promise<KcriResult>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({...said, exitCode: code ?? undefined});
    });
  });
  const says = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const match = pattern.exec(said.stdout + said.stderr);
      if (match !== null) return match;
      if (child.exitCode !== null)
        throw new Error(`kcri ended without saying ${String(pattern)}: ${said.stdout}${said.stderr}`);
      await delay(5);
    }
  };
  return {kill: (signal) => child.kill(signal), waitForOutput: says, exited: ended};
}
