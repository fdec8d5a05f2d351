import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {lstat, readdir, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {findLiveKubelet} from '../../../src/kubelet/node/find-live-kubelet.js';
import {until} from '../../base/until.js';
import {runKcri, type RunResult} from '../../cli/run-kcri.js';
import {anImage, BUSYBOX} from '../../fakes/fake-runtime.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';
import {ClusterTestbed} from '../../kubelet/cluster/cluster-testbed.js';
import {DaemonTestbed} from '../../kubelet/daemon/daemon-testbed.js';
import {aContainerSpec, aManifest, isMutatingCall} from '../command-testbed.js';

interface Takeover {
  readonly seamless: boolean;
  readonly kubelets: readonly unknown[];
  readonly apiServerError?: string;
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

const NEWER = 'localhost:5000/busybox:2';
const manifest = (name: string, container: Parameters<typeof aContainerSpec>[1] = {}): string =>
  aManifest({name, containers: [aContainerSpec('main', container)]});

/** Starts pods and stops their kubelet, and then removes what a kubelet does not store. */
async function leaveNode(manifests: Readonly<Record<string, string>>): Promise<DaemonTestbed> {
  const images = [anImage(), anImage({name: NEWER})];
  const testbed = await DaemonTestbed.start({manifests, runtime: {images}});
  onTestFinished(async () => testbed[Symbol.asyncDispose]());
  for (const name of Object.keys(manifests).map((file) => file.replace('.yaml', '')))
    await testbed.until(`pod "${name}" runs`, () => testbed.statusOf(name).ready === 1);
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
async function plan(testbed: DaemonTestbed, ...args: readonly string[]): Promise<RunResult> {
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

async function takeoverOf(
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

const verdicts = ({pods}: Takeover): readonly string[] => pods.map(({pod, verdict}) => `${pod} ${verdict}`);

describe('static pods', () => {
  // Proves: plan --takeover
  test('that another kubelet has left are kept, and those of others are left alone', async () => {
    const testbed = await leaveNode({'db.yaml': manifest('db'), 'web.yaml': manifest('web')});
    expect(verdicts(await takeoverOf(testbed, 0))).toEqual([
      'db-goldennode kept',
      'web-goldennode kept',
      'foreign leftAlone',
    ]);
    const {stdout} = await plan(testbed);
    expect(stdout.split('\n')[0]).toBe(
      `${testbed.rootDir} on ${GOLDEN_NODE.nodeName}: 3 pods: 2 kept, 1 left alone`,
    );
    expect(stdout).toMatch(/^pod default\/web-goldennode \(uid [0-9a-f]{32}\): kept$/m);
  });

  test('with another image are restarted, and the fields that differ are shown', async () => {
    const testbed = await leaveNode({'db.yaml': manifest('db'), 'web.yaml': manifest('web')});
    await testbed.put('web.yaml', manifest('web', {image: NEWER}));
    const takeover = await takeoverOf(testbed, 1);
    expect(verdicts(takeover)).toEqual([
      'db-goldennode kept',
      'web-goldennode restarted',
      'foreign leftAlone',
    ]);
    const {fields, diffs} = takeover.pods[1] ?? {};
    expect(fields?.map(({path}) => path)).toEqual(['metadata.uid']);
    expect(diffs?.flatMap(({changes}) => changes)).toContainEqual({
      path: 'image.user_specified_image',
      before: BUSYBOX,
      after: NEWER,
    });
    const {stdout} = await plan(testbed);
    expect(stdout).toContain('~ metadata.uid: "');
    testbed.run();
    await testbed.until('the daemon restarts it', () => testbed.statusOf('web').ready === 1);
    expect(testbed.ownContainers.some(({config}) => config.image?.userSpecifiedImage === NEWER)).toBe(true);
  });

  test('that run with another UID are kept', async () => {
    const testbed = await leaveNode({'web.yaml': manifest('web')});
    await testbed.remove('web.yaml');
    await testbed.put('moved.yaml', manifest('web')); // the UID depends on the path
    expect(verdicts(await takeoverOf(testbed, 0))).toEqual(['web-goldennode kept', 'foreign leftAlone']);
  });

  test('of a removed manifest are stopped, and those of a new one are started', async () => {
    const testbed = await leaveNode({'db.yaml': manifest('db'), 'web.yaml': manifest('web')});
    await testbed.remove('db.yaml');
    await testbed.put('new.yaml', manifest('new'));
    expect(verdicts(await takeoverOf(testbed, 0))).toEqual([
      'new-goldennode started',
      'web-goldennode kept',
      'db-goldennode stopped',
      'foreign leftAlone',
    ]);
  });

  test('with devices are impossible', async () => {
    const resources = {limits: {'example.com/gpu': '1'}};
    const testbed = await leaveNode({'web.yaml': manifest('web', {resources})});
    const {pods} = await takeoverOf(testbed, 1);
    expect(pods[0]).toMatchObject({
      verdict: 'impossible',
      reasons: ['device plugins are not supported: containers start without example.com/gpu'],
    });
  });

  test('with an unsupported volume have a problem, and the running pod is stopped', async () => {
    const testbed = await leaveNode({'web.yaml': manifest('web')});
    await testbed.put(
      'web.yaml',
      aManifest({
        name: 'web',
        containers: [aContainerSpec('main')],
        volumes: [{name: 'data', csi: {driver: 'csi.example.com'}}],
      }),
    );
    const takeover = await takeoverOf(testbed, 1);
    expect(verdicts(takeover)).toEqual(['web-goldennode stopped', 'foreign leftAlone']);
    expect(takeover.manifestProblems).toMatchObject([{message: expect.stringContaining('csi') as string}]);
  });

  test('a container that has exited does not count as restarted', async () => {
    const testbed = await leaveNode({'web.yaml': manifest('web')});
    testbed.kill('main', 1);
    expect(verdicts(await takeoverOf(testbed, 0))).toEqual(['web-goldennode kept', 'foreign leftAlone']);
  });

  test('a pod whose UID belongs to another program is impossible', async () => {
    const testbed = await leaveNode({});
    await testbed.put('web.yaml', aManifest({metadata: {uid: 'foreign-uid'}}));
    const {pods} = await takeoverOf(testbed, 1);
    expect(pods).toMatchObject([
      {verdict: 'impossible', reasons: [expect.stringContaining('is in use'), expect.anything()]},
    ]);
  });
});

test('a kubelet that still runs is named, and what has no effect', async () => {
  const testbed = await leaveNode({'web.yaml': manifest('web')});
  const args = ['-c', 'read line', 'sh', `--root-dir=${testbed.rootDir}`];
  const kubelet = spawn('sh', args, {argv0: 'kubelet', stdio: ['pipe', 'ignore', 'ignore']});
  const exited = once(kubelet, 'exit');
  onTestFinished(async () => {
    kubelet.kill('SIGKILL');
    await exited;
  });
  await until(async () => (await findLiveKubelet(testbed.rootDir)) === kubelet.pid);
  const flags = ['--kernel-memcg-notification'];
  const {kubelets, ineffective} = await takeoverOf(testbed, 0, ...flags);
  expect(kubelets).toEqual([{program: 'kubelet', pid: kubelet.pid}]);
  expect(ineffective.map(({setting}) => setting)).toContain('kernelMemcgNotification');
  const {stdout} = await plan(testbed, ...flags);
  expect(stdout).toContain(
    `a kubelet (PID ${kubelet.pid}) runs with this root directory: stop it before kcri starts`,
  );
  expect(stdout).toContain('settings without effect:\n  kernelMemcgNotification: ');
});

describe('pods of the API server', () => {
  async function leaveCluster(...names: readonly string[]): Promise<ClusterTestbed> {
    const testbed = await ClusterTestbed.start();
    onTestFinished(async () => testbed[Symbol.asyncDispose]());
    for (const name of names) testbed.createPod(name);
    for (const name of names) await testbed.untilPhase(name, 'Running');
    await testbed.daemon.stop();
    await rm(join(testbed.daemon.rootDir, 'kcri'), {recursive: true});
    return testbed;
  }

  async function writeKubeconfig({daemon}: ClusterTestbed, server: string): Promise<string> {
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

  test('are kept, and those that it no longer has are stopped', async () => {
    const testbed = await leaveCluster('gone', 'kept');
    testbed.api.storage.delete('/api/v1/namespaces/default/pods/gone');
    const file = await writeKubeconfig(testbed, testbed.api.url);
    expect(verdicts(await takeoverOf(testbed.daemon, 0, '--kubeconfig', file))).toEqual([
      'kept kept',
      'gone stopped',
      'foreign leftAlone',
    ]);
  });

  test('with devices of DRA are impossible', async () => {
    const testbed = await leaveCluster('kept');
    testbed.createPod('claims', {resourceClaims: [{name: 'gpu', resourceClaimName: 'gpu'}]});
    const file = await writeKubeconfig(testbed, testbed.api.url);
    const {pods} = await takeoverOf(testbed.daemon, 1, '--kubeconfig', file);
    const found = pods.find(({pod}) => pod === 'claims');
    expect(found).toMatchObject({verdict: 'impossible'});
    expect(found?.reasons?.[0]).toContain('PodFeatureUnsupported: spec.resourceClaims');
  });

  test('are unknown without the API server, while static pods are planned', async () => {
    const testbed = await leaveCluster('kept');
    await testbed.daemon.put('web.yaml', manifest('web'));
    const file = await writeKubeconfig(testbed, 'http://127.0.0.1:1');
    const takeover = await takeoverOf(testbed.daemon, 1, '--kubeconfig', file);
    expect(takeover.apiServerError).toContain('http://127.0.0.1:1');
    expect(verdicts(takeover)).toEqual(['web-goldennode started', 'kept unknown', 'foreign leftAlone']);
  });
});
