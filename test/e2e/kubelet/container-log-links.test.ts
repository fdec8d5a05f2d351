import {readFile, readlink, realpath, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {collectedLogs, podLogs} from '../../kubelet/managers/logs/collector-patterns.js';
import {startKubeletTestbed, type KubeletTestbed} from '../harness/kubelet-testbed.js';
import {aContainer, aManifest, shellCommand} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

/** Prints lines until the file /stop exists, faster than the log is rotated. */
const CHATTER = `i=0; until [ -e /stop ]; do i=$((i+1)); echo "line $i ${'x'.repeat(65)}"; [ $((i % 50)) != 0 ] || usleep 100000; done; sleep 3600`;
const ROTATION = `containerLogMaxSize: 20Ki
containerLogMonitorInterval: 3s
`;

describe.each(newestRuntime)('links to container logs: $name', (which) => {
  let testbed: KubeletTestbed;
  let directory: string;
  const found = () => collectedLogs(directory);
  beforeAll(async () => {
    testbed = await startKubeletTestbed(which, 'n1');
    directory = join(testbed.podTestbed.runtime.rootDir, 'containers');
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  // Proves: kubelet --container-logs-dir
  test('log collectors find running containers, over rotations and restarts, and no removed ones', async () => {
    const {podTestbed} = testbed;
    const {logsDir} = podTestbed;
    await testbed.start(ROTATION, ['--container-logs-dir', directory]);
    const containers = [
      aContainer('chatty', {command: shellCommand(CHATTER)}),
      aContainer('side-car', {command: shellCommand('echo hello; sleep 3600')}),
    ];
    await testbed.put('web', aManifest('web', {terminationGracePeriodSeconds: 0, containers}));
    await until(() => found().length === 2);
    const pod = await podTestbed.pod('web-n1');
    const idOf = (name: string) => pod.containers.find(({metadata}) => metadata?.name === name)?.id;
    const about = {pod: 'web-n1', namespace: 'default'};
    expect(found()).toMatchObject(
      ['chatty', 'side-car'].map((container) => ({...about, container, id: idOf(container)})),
    );
    const [chatty, sidecar] = found().map(({path}) => path);
    expect(await readlink(sidecar ?? '')).toBe(join(logsDir, `default_web-n1_${pod.uid}/side-car/0.log`));
    await until(async () => (await readFile(sidecar ?? '', 'utf8')).includes('stdout F hello\n'));

    const chattyLogs = () => podLogs(logsDir).filter((path) => path.includes('/chatty/'));
    const link = await realpath(chatty ?? '');
    const first = await readFile(chatty ?? '', 'utf8');
    await until(async () => !(await readFile(chatty ?? '', 'utf8')).startsWith(first.slice(0, 100)));
    expect(chattyLogs()).toEqual([link]);
    expect(found()).toHaveLength(2);

    await podTestbed.runtime.kcri(['stop', '--timeout=0', idOf('side-car') ?? '']);
    await until(() => found().length === 3);
    expect(found().filter(({container}) => container === 'side-car')).toHaveLength(2);
    await testbed.remove('web');
    expect(found()).toEqual([]);
  });

  // Proves: sync --container-logs-dir
  test('the link of a synced pod is removed by delete, also after its logs were removed', async () => {
    const {podTestbed} = testbed;
    const manifest = aManifest('job', {
      containers: [aContainer('main', {command: shellCommand('sleep 3600')})],
    });
    const args = ['--container-logs-dir', directory];
    expect(await podTestbed.sync(manifest, args)).toMatchObject({exitCode: 0});
    expect(found()).toMatchObject([{pod: 'job', container: 'main'}]);
    await rm(podTestbed.logsDir, {recursive: true});
    expect(await podTestbed.delete('job')).toMatchObject({exitCode: 0});
    expect(found()).toEqual([]);
  });
});
