import {spawn} from 'node:child_process';
import {fileURLToPath} from 'node:url';

const KCRI = fileURLToPath(new URL('../../../bin/kcri.js', import.meta.url));

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
  /** Ends it with SIGTERM. */
  readonly signal?: AbortSignal;
}

const OWN_VARIABLES = {
  CONTAINER_RUNTIME_ENDPOINT: undefined,
  IMAGE_SERVICE_ENDPOINT: undefined,
  CRI_CONFIG_FILE: undefined,
  KCRI_ROOT_DIR: undefined,
};

/** Runs the built bin/kcri.js to its end, as a process of its own. */
export async function runKcri(args: readonly string[], options: KcriOptions = {}): Promise<KcriResult> {
  const child = spawn(process.execPath, [KCRI, ...args], {
    cwd: options.cwd,
    env: {...process.env, ...OWN_VARIABLES, ...options.env},
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  options.signal?.addEventListener('abort', () => child.kill('SIGTERM'), {once: true});
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  // A command that reads nothing may have ended before the input is written.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  const exitCode = await new Promise<number | undefined>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      resolve(code ?? undefined);
    });
  });
  return {stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString(), exitCode};
}
