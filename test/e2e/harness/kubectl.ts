import {spawn} from 'node:child_process';
import {CACHE} from '../../../scripts/test-runtimes/second-containerd.mjs';
import {ensureKubectl} from '../../../scripts/test-runtimes/kubectl.mjs';
import {until} from '../../base/until.js';

/** Path of the kubectl that `npm test` unpacked; a run of vitest without the bootstrap unpacks it itself. */
const PROGRAM = process.env['KCRI_TEST_KUBECTL'] ?? (await ensureKubectl(CACHE));

/** Result of a run of kubectl. */
export interface KubectlResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Undefined if a signal ended it. */
  readonly exitCode: number | undefined;
}

/** A running kubectl. */
export interface KubectlProcess {
  /** Output so far, standard output before standard error. */
  readonly output: () => string;
  /** Writes to standard input. */
  write(text: string): void;
  /** Closes standard input. */
  end(): void;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the match of the output; rejects if kubectl exits before. */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>;
  readonly exited: Promise<KubectlResult>;
}

/** kubectl with a kubeconfig. */
export interface Kubectl {
  /** Path of the program. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  /** Starts it with standard input open. */
  start(args: readonly string[], env?: Readonly<Record<string, string>>): KubectlProcess;
  /** Runs it until it exits, with `input` as standard input. */
  run(
    args: readonly string[],
    input?: string,
    env?: Readonly<Record<string, string>>,
  ): Promise<KubectlResult>;
  /** Returns its standard output without the final newline. Rejects if it fails. */
  output(...args: readonly string[]): Promise<string>;
}

/** Returns kubectl for the cluster of a kubeconfig. `home` is a directory for what it stores. */
export function kubectlFor(kubeconfig: string, home: string): Kubectl {
  const env = {KUBECONFIG: kubeconfig, HOME: home};
  const start: Kubectl['start'] = (args, more = {}) => startKubectl(args, {...env, ...more});
  const run: Kubectl['run'] = async (args, input = '', more = {}) => {
    const started = start(args, more);
    started.write(input);
    started.end();
    return await started.exited;
  };
  const output: Kubectl['output'] = async (...args) => {
    const {stdout, stderr, exitCode} = await run(args);
    if (exitCode === 0) return stdout.trimEnd();
    throw new Error(`kubectl ${args.join(' ')} exited with ${exitCode ?? 'a signal'}: ${stderr}`);
  };
  return {program: PROGRAM, env, start, run, output};
}

function startKubectl(args: readonly string[], env: Readonly<Record<string, string>>): KubectlProcess {
  const child = spawn(PROGRAM, args, {env: {...process.env, ...env}, stdio: 'pipe'});
  const written = {stdout: '', stderr: ''};
  child.stdout.setEncoding('utf8').on('data', (text: string) => (written.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (written.stderr += text));
  // kubectl may have exited before the input is written.
  child.stdin.on('error', () => undefined);
  const exited = new Promise<KubectlResult>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({...written, exitCode: code ?? undefined});
    });
  });
  const output = (): string => written.stdout + written.stderr;
  const waitForOutput: KubectlProcess['waitForOutput'] = async (pattern) => {
    await until(
      () => {
        if (pattern.test(output())) return true;
        if (child.exitCode === null) return false;
        throw new Error(`kubectl ${args.join(' ')} ended without printing ${String(pattern)}: ${output()}`);
      },
      () => `${String(pattern)} in the output of kubectl ${args.join(' ')}: ${output()}`,
    );
    return pattern.exec(output())!;
  };
  return {
    output,
    write: (text) => child.stdin.write(text),
    end: () => child.stdin.end(),
    kill: (signal) => child.kill(signal),
    waitForOutput,
    exited,
  };
}
