import {chmod, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {busyboxSpec} from '../../../scripts/test-images.mjs';
import {connect, type Connection} from '../../../src/cri/index.js';
import {buildOciArchive} from '../../../src/private-runtime/image/oci-image.js';
import {listLeftovers} from './leftovers.js';
import {
  runKcriProcess,
  startKcriProcess,
  type KcriOptions,
  type KcriResult,
  type KcriProcess,
} from './kcri-process.js';
import {runtimeUpFlags, type RuntimeUnderTest} from './runtimes-under-test.js';

/** A private runtime of one test file, with the busybox image loaded. */
export interface TestRuntime extends AsyncDisposable {
  /** kcri's root directory, a temporary directory. */
  readonly rootDir: string;
  readonly endpoint: string;
  readonly connection: Connection;
  /** Runs kcri against this runtime. */
  kcri(args: readonly string[], options?: KcriOptions): Promise<KcriResult>;
  /** Runs kcri against this runtime and returns its output. Rejects if it fails or prints a message. */
  output(...args: readonly string[]): Promise<string>;
  /** Starts kcri against this runtime. */
  start(args: readonly string[], options?: KcriOptions): KcriProcess;
  /** Takes the runtime down; rejects if anything of it is left. Disposing does the same. */
  stop(): Promise<void>;
}

/** Output of `kcri runtime status -o json` for a running runtime, as far as tests use it. */
export interface RuntimeUpStatus {
  readonly state: string;
  readonly pid: number;
  readonly endpoint: string;
  readonly version: string;
  readonly configVersion: number;
  readonly pods: number;
  readonly containers: number;
  readonly network: {readonly bridge: string; readonly subnet: string};
  readonly restrictOomScoreAdj: {readonly value: boolean; readonly reason: string};
}

/**
 * Starts a private runtime in a temporary root directory, below `parent`, and loads the busybox image. `env` has variables of the
 * runtime.
 */
export async function startPrivateRuntime(
  which: RuntimeUnderTest,
  parent = tmpdir(),
  env: Readonly<Record<string, string>> = {},
): Promise<TestRuntime> {
  const rootDir = await mkdtemp(join(parent, 'kcri-e2e-'));
  // The mode that kcri uses: pods with their own user namespace must be able to enter the directory.
  await chmod(rootDir, 0o755);
  const kcri = (args: readonly string[]): Promise<KcriResult> =>
    runKcriProcess(args, {env: {...env, KCRI_ROOT_DIR: rootDir}});
  const succeed = async (args: readonly string[]): Promise<string> => {
    const {stdout, stderr, exitCode} = await kcri(args);
    if (exitCode !== 0)
      throw new Error(`kcri ${args.join(' ')} ended with ${exitCode ?? 'a signal'}: ${stderr}`);
    return stdout.trim();
  };
  const setUp = async (): Promise<RuntimeUpStatus> => {
    await succeed(['runtime', 'up', ...runtimeUpFlags(which)]);
    await loadBusybox(rootDir, succeed);
    return JSON.parse(await succeed(['runtime', 'status', '-o', 'json'])) as RuntimeUpStatus;
  };
  const {endpoint, network} = await setUp().catch(async (error: unknown) => {
    await kcri(['runtime', 'down']);
    await rm(rootDir, {recursive: true, force: true});
    throw error;
  });
  const connection = connect(endpoint);
  const stop = async (): Promise<void> => {
    connection.close();
    await succeed(['runtime', 'down']);
    const left = listLeftovers({rootDir, bridge: network.bridge});
    if (left.length > 0) throw new Error(`kcri runtime down has left:\n${left.join('\n')}`);
    await rm(rootDir, {recursive: true, force: true});
  };
  const start: TestRuntime['start'] = (args, options = {}) =>
    startKcriProcess(args, {
      ...options,
      env: {
        KCRI_ROOT_DIR: rootDir,
        CONTAINER_RUNTIME_ENDPOINT: endpoint,
        // A sync need not wait for containers that a test knows to run.
        KCRI_MIN_READY: '0s',
        ...options.env,
      },
    });
  const bound: TestRuntime['kcri'] = (args, options) => start(args, options).exited;
  const output: TestRuntime['output'] = async (...words) => {
    const {stdout, stderr, exitCode} = await bound(words);
    if (exitCode === 0 && stderr === '') return stdout;
    throw new Error(`kcri ${words.join(' ')} exited with ${exitCode ?? 'a signal'}: ${stderr}`);
  };
  return {rootDir, endpoint, connection, kcri: bound, output, start, stop, [Symbol.asyncDispose]: stop};
}

async function loadBusybox(
  dir: string,
  succeed: (args: readonly string[]) => Promise<string>,
): Promise<void> {
  const archive = join(dir, 'busybox.tar');
  await writeFile(archive, buildOciArchive(await busyboxSpec()));
  await succeed(['runtime', 'load', archive]);
  await rm(archive);
}
