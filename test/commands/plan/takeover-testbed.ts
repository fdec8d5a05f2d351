import {lstat, readdir, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished} from 'vitest';
import {runKcri, type RunResult} from '../../cli/run-kcri.js';
import {anImage} from '../../fakes/fake-runtime.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';
import {ClusterTestbed} from '../../kubelet/cluster/cluster-testbed.js';
import {DaemonTestbed, type DaemonTestbedOptions} from '../../kubelet/daemon/daemon-testbed.js';
import {aContainerSpec, aManifest, isMutatingCall} from '../command-testbed.js';

/** JSON of a takeover, as far as tests read it. */
export interface Takeover {
  readonly seamless: boolean;
  readonly kubelets: readonly unknown[];
  readonly startError?: string;
  readonly apiServerError?: string;
  readonly eviction?: {readonly resource: string; readonly first?: {readonly name: string}};
  readonly softEvictions?: readonly unknown[];
  readonly manifestProblems: readonly {readonly message: string}[];
  readonly ineffective: readonly {readonly setting: string}[];
  readonly pods: readonly {
    readonly pod: string;
    readonly verdict: string;
    readonly reasons?: readonly string[];
    readonly fields?: readonly {readonly path: string}[];
    readonly changes?: readonly {readonly target: string; readonly why: string}[];
    readonly diffs?: readonly {readonly changes: readonly unknown[]}[];
  }[];
}

/** Image of a changed manifest. */
export const NEWER = 'localhost:5000/busybox:2';
/** Returns the manifest of a pod with one container. */
export const manifest = (name: string, container: Parameters<typeof aContainerSpec>[1] = {}): string =>
  aManifest({name, containers: [aContainerSpec('main', container)]});

/** Starts pods and stops their kubelet after `beforeStop`, and then removes what a kubelet does not store. */
export async function leaveNode(
  manifests: Readonly<Record<string, string>>,
  beforeStop: (testbed: DaemonTestbed) => Promise<void> = async () => undefined,
  options: Pick<DaemonTestbedOptions, 'rootDir'> = {},
): Promise<DaemonTestbed> {
  const images = [anImage(), anImage({name: NEWER})];
  const testbed = await DaemonTestbed.start({manifests, runtime: {images}, ...options});
  onTestFinished(async () => testbed[Symbol.asyncDispose]());
  for (const name of Object.keys(manifests).map((file) => file.replace('.yaml', '')))
    await testbed.until(`pod "${name}" runs`, () => testbed.statusOf(name).ready === 1);
  await beforeStop(testbed);
  await testbed.stop();
  await rm(join(testbed.rootDir, 'kcri'), {recursive: true});
  return testbed;
}

/** Returns everything below a directory, with its times. */
async function listTree(directory: string): Promise<readonly string[]> {
  const paths = (await readdir(directory, {recursive: true})).map((path) => join(directory, path)).toSorted();
  return await Promise.all(
    [directory, ...paths].map(async (path) => {
      const {mode, size, mtimeMs, ctimeMs} = await lstat(path);
      return [path, mode, size, mtimeMs, ctimeMs].join(' ');
    }),
  );
}

/** Plans the takeover, and asserts that it changes nothing. */
export async function plan(testbed: DaemonTestbed, ...args: readonly string[]): Promise<RunResult> {
  const before = {tree: await listTree(testbed.directory), calls: testbed.fake.calls.length};
  const result = await runKcri(
    [
      ...['--root-dir', testbed.rootDir, 'plan', '--takeover'],
      ...['--pod-manifest-path', testbed.manifestsDir, '--hostname-override', GOLDEN_NODE.nodeName],
      ...['--pod-logs-dir', testbed.logsDir, ...args],
    ],
    {endpoint: testbed.fake.endpoint, clock: testbed.clock},
  );
  const changing = testbed.fake.calls
    .slice(before.calls)
    .map(({method}) => method)
    .filter(isMutatingCall);
  expect(changing).toEqual([]);
  expect(await listTree(testbed.directory)).toEqual(before.tree);
  return result;
}

/** Returns the takeover, and asserts its exit code. */
export async function takeoverOf(
  testbed: DaemonTestbed,
  expected: 0 | 1,
  ...args: readonly string[]
): Promise<Takeover> {
  const {stdout, stderr, exitCode} = await plan(testbed, '-o', 'json', ...args);
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: expected});
  const takeover = JSON.parse(stdout) as Takeover;
  expect(takeover.seamless).toBe(expected === 0);
  return takeover;
}

/** Returns the verdict of each pod. */
export const verdicts = ({pods}: Takeover): readonly string[] =>
  pods.map(({pod, verdict}) => `${pod} ${verdict}`);

/** Starts pods of the API server and stops their kubelet; see leaveNode. */
export async function leaveCluster(...names: readonly string[]): Promise<ClusterTestbed> {
  const testbed = await ClusterTestbed.start();
  onTestFinished(async () => testbed[Symbol.asyncDispose]());
  for (const name of names) testbed.createPod(name);
  for (const name of names) await testbed.untilPhase(name, 'Running');
  await testbed.daemon.stop();
  await rm(join(testbed.daemon.rootDir, 'kcri'), {recursive: true});
  return testbed;
}

/** Writes a kubeconfig of a server, and resolves with its path. */
export async function writeKubeconfig({daemon}: ClusterTestbed, server: string): Promise<string> {
  const file = join(daemon.directory, 'kubeconfig');
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'node',
    clusters: [{name: 'fake', cluster: {server}}],
    users: [{name: 'node', user: {}}],
    contexts: [{name: 'node', context: {cluster: 'fake', user: 'node'}}],
  };
  await writeFile(file, JSON.stringify(kubeconfig));
  return file;
}
