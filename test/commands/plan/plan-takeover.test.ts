import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {formatDeviceCheckpoint} from '../../../src/kubelet/managers/devices/core/device-checkpoint.js';
import {findLiveKubelet} from '../../../src/kubelet/node/find-live-kubelet.js';
import {mountedDirectory} from '../../base/mounted-directory.js';
import {until} from '../../base/until.js';
import {BUSYBOX} from '../../fakes/fake-runtime.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';
import {DaemonTestbed} from '../../kubelet/daemon/daemon-testbed.js';
import {aContainerSpec, aManifest} from '../command-testbed.js';
import {
  leaveCluster,
  leaveNode,
  manifest,
  NEWER,
  plan,
  takeoverOf,
  verdicts,
  writeKubeconfig,
} from './takeover-testbed.js';

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

  test('with devices are kept, and a resource that no device plugin has registered is named', async () => {
    const resources = {limits: {'example.com/gpu': '1'}};
    const testbed = await leaveNode({'web.yaml': manifest('web', {resources})});
    const {pods} = await takeoverOf(testbed, 0);
    expect(pods[0]).toMatchObject({
      verdict: 'kept',
      reasons: [
        'no device plugin has registered example.com/gpu: containers that start run without, as under any kubelet',
      ],
    });
    const registered = new Map([['example.com/gpu', ['gpu-0']]]);
    await mkdir(join(testbed.rootDir, 'device-plugins'), {recursive: true});
    const checkpoint = join(testbed.rootDir, 'device-plugins/kubelet_internal_checkpoint');
    await writeFile(checkpoint, formatDeviceCheckpoint({allocations: [], registered}));
    const known = await takeoverOf(testbed, 0);
    expect(known.pods[0]?.verdict).toBe('kept');
    expect(known.pods[0]?.reasons ?? []).toEqual([]);
    // A daemon logs this, and starts.
    await writeFile(checkpoint, '{"broken');
    const broken = await takeoverOf(testbed, 0);
    expect(broken.pods[0]?.reasons).toEqual(pods[0]?.reasons);
  });

  test('of a daemon whose runtime has moved to another socket are kept', async () => {
    const testbed = await DaemonTestbed.start({manifests: {'web.yaml': manifest('web')}});
    onTestFinished(async () => testbed[Symbol.asyncDispose]());
    await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 1);
    await testbed.stop();
    const [record = ''] = (await testbed.listRemains())['records'] ?? [];
    const path = join(testbed.rootDir, 'kcri/records', record);
    const before = JSON.parse(await readFile(path, 'utf8')) as object;
    await writeFile(path, JSON.stringify({...before, endpoint: `unix://${testbed.rootDir}/gone.sock`}));
    expect(verdicts(await takeoverOf(testbed, 0))).toEqual(['web-goldennode kept', 'foreign leftAlone']);
  });

  test('with an unsupported volume have a problem, and the running pod is stopped', async () => {
    const testbed = await leaveNode({'web.yaml': manifest('web')});
    await testbed.put(
      'web.yaml',
      aManifest({
        name: 'web',
        containers: [aContainerSpec('main')],
        volumes: [{name: 'data', rbd: {monitors: ['m'], image: 'i'}}],
      }),
    );
    const takeover = await takeoverOf(testbed, 1);
    expect(verdicts(takeover)).toEqual(['web-goldennode stopped', 'foreign leftAlone']);
    expect(takeover.manifestProblems).toMatchObject([{message: expect.stringContaining('rbd') as string}]);
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
  const flags = ['--rotate-server-certificates'];
  const {kubelets, ineffective} = await takeoverOf(testbed, 0, ...flags);
  expect(kubelets).toEqual([{program: 'kubelet', pid: kubelet.pid}]);
  expect(ineffective.map(({setting}) => setting)).toContain('serverTLSBootstrap');
  const {stdout} = await plan(testbed, ...flags);
  expect(stdout).toContain(
    `a kubelet (PID ${kubelet.pid}) runs with this root directory: stop it before kcri starts`,
  );
  expect(stdout).toContain('settings without effect:\n  serverTLSBootstrap: ');
});

describe('pods of the API server', () => {
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

  test('with volumes of a removed kind are impossible', async () => {
    const testbed = await leaveCluster('kept');
    testbed.createPod('old', {volumes: [{name: 'raw', flocker: {datasetName: 'raw'}}]});
    const file = await writeKubeconfig(testbed, testbed.api.url);
    const {pods} = await takeoverOf(testbed.daemon, 1, '--kubeconfig', file);
    const found = pods.find(({pod}) => pod === 'old');
    expect(found).toMatchObject({verdict: 'impossible'});
    expect(found?.reasons?.[0]).toContain('PodFeatureUnsupported: spec.volumes[0].flocker');
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

test.each([
  ['cpu_manager_state', 'start cpu manager error: '],
  ['memory_manager_state', 'start memory manager error: '],
  ['dra_manager_state', 'create ResourceClaim cache: '],
])('kcri would not start with an invalid %s', async (file, error) => {
  const testbed = await leaveNode({'web.yaml': manifest('web')});
  const valid = ['--memory-manager-policy=None', '--cpu-manager-policy=none'];
  expect((await takeoverOf(testbed, 0, ...valid)).startError).toBeUndefined();
  await writeFile(join(testbed.rootDir, file), '{"broken');
  expect((await takeoverOf(testbed, 1, ...valid)).startError).toContain(error);
});

/** Mounting requires root. */
test.skipIf(process.getuid?.() !== 0)(
  'a takeover of a read-only root directory is planned, and kcri would not start (needs root)',
  async () => {
    const rootDir = await mountedDirectory();
    const testbed = await leaveNode({'web.yaml': manifest('web')}, undefined, {rootDir});
    execFileSync('mount', ['-o', 'remount,ro', rootDir]);
    const takeover = await takeoverOf(testbed, 1);
    execFileSync('mount', ['-o', 'remount,rw', rootDir]);
    expect(verdicts(takeover)).toEqual(['web-goldennode kept', 'foreign leftAlone']);
    expect(takeover.startError).toBe(`writing to "${rootDir}": read-only file system`);
  },
);
