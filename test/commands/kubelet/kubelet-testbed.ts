import {mkdir, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';
import {systemClock, type Clock} from '../../../src/base/clock.js';
import {until} from '../../base/until.js';
import {runKcri, type RunOptions, type RunResult} from '../../cli/run-kcri.js';
import type {FakeRuntimeOptions} from '../../fakes/fake-runtime.js';
import {createTestbed, type CommandTestbed} from '../command-testbed.js';

/** A running `kcri kubelet` with a manifest directory. */
export interface KubeletTestbed {
  readonly testbed: CommandTestbed;
  readonly writeManifest: (name: string, manifest: string) => Promise<void>;
  readonly removeManifest: (name: string) => Promise<void>;
  /** Runs kcri with the kubelet's root directory, but without the runtime's endpoint. */
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<RunResult>;
  /** Returns the log of all kubelets so far. */
  readonly log: () => string;
  /** Stops the kubelet. */
  readonly stop: () => Promise<RunResult>;
  /** Starts another kubelet after `stop`. */
  readonly start: () => void;
}

/** Options of a kubelet testbed. */
export interface KubeletTestbedOptions {
  readonly runtime?: FakeRuntimeOptions;
  /** Log verbosity. */
  readonly verbosity?: number;
  /** Additional flags of the kubelet. */
  readonly flags?: readonly string[];
  /** The kubelet's clock instead of the machine's. */
  readonly clock?: Clock;
}

/** Starts a kubelet that stops with the test. */
export async function startKubelet({
  runtime = {},
  verbosity = 2,
  flags = [],
  clock = systemClock,
}: KubeletTestbedOptions = {}): Promise<KubeletTestbed> {
  const testbed = await createTestbed(runtime);
  const manifests = join(testbed.directory, 'manifests');
  await mkdir(manifests);
  const quiet = ['--enable-server=false', '--healthz-port=0', '--oom-score-adj=0', `--v=${verbosity}`];
  const args = testbed.args([
    'kubelet',
    '--pod-manifest-path',
    manifests,
    '--hostname-override=n1',
    ...quiet,
    ...flags,
  ]);
  let log = '';
  let stop: KubeletTestbed['stop'];
  const start = (): void => {
    const end = new AbortController();
    const ended = runKcri(args, {
      endpoint: testbed.runtime.endpoint,
      signal: end.signal,
      clock,
      onStderr: (text) => (log += text),
    });
    stop = async () => {
      end.abort();
      return await ended;
    };
  };
  start();
  onTestFinished(async () => {
    await stop();
  });
  return {
    testbed,
    writeManifest: async (name, manifest) => writeFile(join(manifests, name), manifest),
    removeManifest: async (name) => rm(join(manifests, name)),
    run: async (words, options) => await runKcri(['--root-dir', testbed.rootDir, ...words], options),
    log: () => log,
    stop: async () => await stop(),
    start,
  };
}

/** Resolves with the result of `kcri describe POD` once its output matches all of the patterns. */
export async function describeUntil(
  {run}: KubeletTestbed,
  pod: string,
  ...expected: readonly RegExp[]
): Promise<RunResult> {
  let result = await run(['describe', pod]);
  await until(async () => {
    if (expected.every((each) => each.test(result.stdout))) return true;
    result = await run(['describe', pod]);
    return false;
  });
  return result;
}
