import {mkdir, readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished} from 'vitest';
import type {PodSpec} from '../../src/api/types/v1-pod.js';
import {ifPresent} from '../../src/base/fs/files.js';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {runKcri, type RunOptions, type RunResult} from '../cli/run-kcri.js';
import {aRawPod} from '../fakes/a-pod.js';
import {BUSYBOX, FakeRuntime, type FakeRuntimeOptions} from '../fakes/fake-runtime.js';

const CHANGES = /^(RunPodSandbox|Stop|Remove|Create|Start|PullImage|Update)/;

/** Returns whether an RPC changes the state of a runtime. */
export function isMutatingCall(method: string): boolean {
  return CHANGES.test(method);
}

/** Returns a busybox container that sleeps by default, for a manifest. */
export function aContainerSpec(name: string, fields: object = {}): object {
  return {name, image: BUSYBOX, imagePullPolicy: 'IfNotPresent', command: ['sleep', '3600'], ...fields};
}

/** Returns a container that runs a shell script. */
export function aScript(name: string, script: string): object {
  return aContainerSpec(name, {command: ['sh', '-c', script]});
}

/** Returns a manifest as text, by default with one sleeping container `main`. */
export function aManifest({
  name = 'web',
  metadata = {},
  ...spec
}: {readonly name?: string; readonly metadata?: object; readonly [field: string]: unknown} = {}): string {
  const defaults = {containers: [aContainerSpec('main')], terminationGracePeriodSeconds: 2};
  return JSON.stringify(aRawPod({...defaults, ...spec} as Partial<PodSpec>, {name, ...metadata}));
}

/** A fake runtime with a root directory and a log directory, and kcri configured for them. */
export class CommandTestbed {
  readonly runtime: FakeRuntime;
  readonly directory: string;

  constructor(runtime: FakeRuntime, directory: string) {
    this.runtime = runtime;
    this.directory = directory;
  }

  get rootDir(): string {
    return join(this.directory, 'root');
  }

  get logsDir(): string {
    return join(this.directory, 'logs');
  }

  /** Writes a file and returns its path. */
  async write(name: string, text: string): Promise<string> {
    const path = join(this.directory, name);
    await writeFile(path, text);
    return path;
  }

  /** Runs kcri in this process. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
    return await runKcri(this.args(args), {endpoint: this.runtime.endpoint, ...options});
  }

  /** Returns a command line with the testbed's directories. */
  args([command = '', ...args]: readonly string[]): readonly string[] {
    const logs = command === 'delete' ? [] : ['--pod-logs-dir', this.logsDir];
    return ['--root-dir', this.rootDir, command, ...logs, ...args];
  }

  /** Methods of the mutating calls. */
  get mutatingCalls(): readonly string[] {
    return this.runtime.calls.map(({method}) => method).filter(isMutatingCall);
  }

  /** Returns the names of the pod records. */
  async records(): Promise<readonly string[]> {
    return await list(join(this.rootDir, 'kcri/records'));
  }

  /** Returns everything that exists of pods. */
  async listLeftovers(): Promise<Readonly<Record<string, readonly string[]>>> {
    return {
      sandboxes: this.runtime.sandboxes.map(({config}) => config.metadata?.name ?? ''),
      containers: this.runtime.containers.map(({config}) => config.metadata?.name ?? ''),
      records: await this.records(),
      podDirs: await list(join(this.rootDir, 'pods')),
      locks: await list(join(this.rootDir, 'locks')),
      logs: await list(this.logsDir),
    };
  }
}

export async function list(directory: string): Promise<readonly string[]> {
  return (await ifPresent(() => readdir(directory))) ?? [];
}

/** Result of `listLeftovers` without any pods. */
export const NO_LEFTOVERS = {sandboxes: [], containers: [], records: [], podDirs: [], locks: [], logs: []};

/** Creates a testbed for the duration of the test. */
export async function createTestbed(options: FakeRuntimeOptions = {}): Promise<CommandTestbed> {
  const directory = await temporaryDirectory();
  const runtime = await FakeRuntime.start(options);
  onTestFinished(async () => {
    await runtime.stop();
  });
  return new CommandTestbed(runtime, directory);
}

/** Expects an error message of kcri without a stack trace. */
export function expectUserError({stderr}: RunResult): void {
  expect(stderr).toMatch(/^kcri: /m);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(stderr).not.toContain('bug in kcri');
}

/** Writes manifests to a directory and returns its path. */
export async function aManifestDirectory(
  testbed: CommandTestbed,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const directory = join(testbed.directory, 'manifests');
  await mkdir(directory);
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  return directory;
}

/** Returns the record of the only pod. */
export async function onlyRecord(testbed: CommandTestbed): Promise<Record<string, unknown>> {
  const [name = ''] = await testbed.records();
  return JSON.parse(await readFile(join(testbed.rootDir, 'kcri/records', name), 'utf8')) as Record<
    string,
    unknown
  >;
}

/** Creates a testbed on which the default manifest is synced, without recorded calls. */
export async function createSyncedTestbed(): Promise<CommandTestbed> {
  const testbed = await createTestbed();
  expect(await testbed.run(['sync', '-'], {stdin: aManifest()})).toMatchObject({exitCode: 0});
  testbed.runtime.clearCalls();
  return testbed;
}
