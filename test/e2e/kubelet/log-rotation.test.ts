import {mkdir, mkdtemp, readdir, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {aContainer, aManifest, shellCommand} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';
import {until} from '../../base/until.js';

const LINES = 4000;
/** Prints lines of 80 bytes for about 10 s, which exceed a limit of 20 KiB repeatedly. */
const CHATTER = `i=0; while [ $i -lt ${LINES} ]; do i=$((i+1)); echo "line $i ${'x'.repeat(65)}"; [ $((i % 100)) != 0 ] || usleep 240000; done; sleep 3600`;

describe.each(newestRuntime)('log rotation by a kubelet: $name', (which) => {
  let testbed: PodTestbed;
  let place: string;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
    place = await mkdtemp(join(tmpdir(), 'kcri-rotation-'));
  });
  afterAll(async () => {
    await testbed[Symbol.asyncDispose]();
    await rm(place, {recursive: true});
  });

  test('loses no lines of a container with much output, and compresses older files', async () => {
    const manifests = join(place, 'manifests');
    const podLogsDir = testbed.logsDir;
    await mkdir(manifests);
    const config = {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      staticPodPath: manifests,
      podLogsDir,
      containerLogMaxSize: '20Ki',
      containerLogMaxFiles: 10,
      containerLogMonitorInterval: '3s',
      containerRuntimeEndpoint: testbed.runtime.endpoint,
      cgroupRoot: testbed.cgroupRoot,
      enableServer: false,
      readOnlyPort: 0,
      healthzPort: 0,
    };
    await writeFile(join(place, 'kubelet.json'), JSON.stringify(config));
    const pod = aManifest('chatty', {
      hostNetwork: true,
      terminationGracePeriodSeconds: 0,
      containers: [aContainer('main', {command: shellCommand(CHATTER)})],
    });
    await writeFile(join(manifests, 'chatty.json'), pod);
    const kubelet = testbed.runtime.start([
      'kubelet',
      '--config',
      join(place, 'kubelet.json'),
      '--hostname-override',
      'n1',
      '--no-admission',
      '--stop-pods-on-exit',
    ]);
    try {
      const logs = async (): Promise<readonly string[]> =>
        (await testbed.runtime.kcri(['logs', 'chatty-n1/main'])).stdout.trimEnd().split('\n');
      let lines: readonly string[] = [];
      await until(async () => {
        lines = await logs();
        return lines.at(-1)?.startsWith(`line ${LINES} `) === true;
      });
      expect(lines.map((line) => Number(line.split(' ')[1]))).toEqual(
        Array.from({length: LINES}, (_, index) => index + 1),
      );
      const directory =
        (await readdir(podLogsDir)).find((name) => name.startsWith('default_chatty-n1_')) ?? '';
      const files = (await readdir(join(podLogsDir, directory, 'main'))).toSorted();
      const rotated = files.filter((name) => /^0\.log\.\d{8}-\d{6}$/.test(name));
      const compressed = files.filter((name) => /^0\.log\.\d{8}-\d{6}\.gz$/.test(name));
      expect(files).toContain('0.log');
      expect(rotated).toHaveLength(1);
      expect(compressed.length).toBeGreaterThan(0);
      expect(files).toHaveLength(1 + rotated.length + compressed.length);
    } finally {
      kubelet.kill('SIGTERM');
      await kubelet.exited;
      await testbed.delete('chatty-n1');
    }
  });
});
