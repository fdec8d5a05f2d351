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

/** True for the RPCs that change what a runtime holds. */
export function isMutatingCall(method: string): boolean {
  return CHANGES.test(method);
}

/** A container for a manifest: busybox that sleeps, unless told otherwise. */
export function aContainerSpec(name: string, fields: object = {}): object {
  return {name, image: BUSYBOX, imagePullPolicy: 'IfNotPresent', command: ['sleep', '3600'], ...fields};
}

/** A shell script as the container `name`. */
export function aScript(name: string, script: string): object {
  return aContainerSpec(name, {command: ['sh', '-c', script]});
}

/** A manifest's text: one sleeping container `main`, unless told otherwise. */
export function aManifest({
  name = 'web',
  metadata = {},
  ...spec
}: {readonly name?: string; readonly metadata?: object; readonly [field: string]: unknown} = {}): string {
  const defaults = {containers: [aContainerSpec('main')], terminationGracePeriodSeconds: 2};
  return JSON.stringify(aRawPod({...defaults, ...spec} as Partial<PodSpec>, {name, ...metadata}));
}

/** A fake runtime, a root directory and a log directory, and kcri told of all three. */
export class PodScene {
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

  /** Writes a file and gives its path. */
  async write(name: string, text: string): Promise<string> {
    const path = join(this.directory, name);
    await writeFile(path, text);
    return path;
  }

  /** Runs kcri in this process. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
    return await runKcri(this.args(args), {endpoint: this.runtime.endpoint, ...options});
  }

  /** The command line with the scene's directories. */
  args([command = '', ...args]: readonly string[]): readonly string[] {
    const logs = command === 'delete' ? [] : ['--pod-logs-dir', this.logsDir];
    return ['--root-dir', this.rootDir, command, ...logs, ...args];
  }

  /** What changed something in the runtime, by method. */
  get mutatingCalls(): readonly string[] {
    return this.runtime.calls.map(({method}) => method).filter(isMutatingCall);
  }

  /** The names of the pod records. */
  async records(): Promise<readonly string[]> {
    return await list(join(this.rootDir, 'records'));
  }

  /** All that there is of pods. */
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

/** What a scene holds when nothing of any pod is left. */
export const NO_LEFTOVERS = {sandboxes: [], containers: [], records: [], podDirs: [], locks: [], logs: []};

/** A scene that ends with the test. */
export async function aScene(options: FakeRuntimeOptions = {}): Promise<PodScene> {
  const directory = await temporaryDirectory();
  const runtime = await FakeRuntime.start(options);
  onTestFinished(async () => {
    await runtime.stop();
  });
  return new PodScene(runtime, directory);
}

/** An error for people: what happened, no stack. */
export function expectUserError({stderr}: RunResult): void {
  expect(stderr).toMatch(/^kcri: /m);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(stderr).not.toContain('bug in kcri');
}

/** Puts manifests into a directory and gives its path. */
export async function aManifestDirectory(
  scene: PodScene,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const directory = join(scene.directory, 'manifests');
  await mkdir(directory);
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  return directory;
}

/** The record of the only pod. */
export async function onlyRecord(scene: PodScene): Promise<Record<string, unknown>> {
  const [name = ''] = await scene.records();
  return JSON.parse(await readFile(join(scene.rootDir, 'records', name), 'utf8')) as Record<string, unknown>;
}
