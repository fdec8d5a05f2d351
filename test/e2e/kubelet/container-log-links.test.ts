import {readdir, readFile, readlink, rm} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {ifPresent} from '../../../src/base/fs/files.js';
import {containerId} from '../../../src/cri/index.js';
import {until} from '../../base/until.js';
import {collectedLogs, podLogs} from '../../kubelet/managers/logs/collector-patterns.js';
import {startKubeletTestbed, type KubeletTestbed} from '../harness/kubelet-testbed.js';
import {aContainer, aManifest, shellCommand} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

/** Prints 30 KB, which is enough for one rotation and too little for two, and a last line once the file /go exists. */
const CHATTER = `for i in $(seq 400); do echo "line $i ${'x'.repeat(65)}"; done; until [ -e /go ]; do usleep 100000; done; echo last; sleep 3600`;
const ROTATION = `containerLogMaxSize: 20Ki
containerLogMonitorInterval: 3s
`;

/** Returns the text of the log; empty if it does not exist. */
async function readLog(path = ''): Promise<string> {
  return (await ifPresent(() => readFile(path, 'utf8'))) ?? '';
}

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
    await until(async () => (await readLog(sidecar)).includes('stdout F hello\n'));

    const log = join(logsDir, `default_web-n1_${pod.uid}/chatty/0.log`);
    await until(async () => (await readdir(dirname(log))).some((name) => name.startsWith('0.log.')));
    await podTestbed.exec(containerId(idOf('chatty') ?? ''), 'touch', '/go');
    // The log does not exist between its renaming and the runtime's answer.
    await until(async () => (await readLog(chatty)).endsWith('stdout F last\n'));
    expect(await readLog(chatty)).not.toContain('stdout F line 1 ');
    expect(podLogs(logsDir).filter((path) => path.includes('/chatty/'))).toEqual([log]);
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
