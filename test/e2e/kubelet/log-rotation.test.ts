import {randomBytes} from 'node:crypto';
import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {listNames} from '../../../src/base/fs/files.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {aContainer, aManifest, shellCommand} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';
import {until} from '../../base/until.js';

/** Rotated files that are compressed before the container ends its output. */
const COMPRESSED = 2;
/** Prints lines of 80 bytes, which exceed a limit of 20 KiB repeatedly, until the file /stop exists. */
const CHATTER = `i=0; until [ -e /stop ]; do i=$((i+1)); echo "line $i ${'x'.repeat(65)}"; [ $((i % 100)) != 0 ] || usleep 240000; done; echo end $i; sleep 3600`;

describe.each(newestRuntime)('log rotation by a kubelet: $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  test('loses no lines of a container with much output, and compresses older files', async () => {
    const place = await temporaryDirectory();
    const manifests = join(place, 'manifests');
    // A failed try may have left logs.
    const name = `chatty-${randomBytes(4).toString('hex')}`;
    const podLogsDir = testbed.logsDir;
    await mkdir(manifests);
    const config = {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      staticPodPath: manifests,
      podLogsDir,
      containerLogMaxSize: '20Ki',
      containerLogMaxFiles: 1000,
      containerLogMonitorInterval: '3s',
      containerRuntimeEndpoint: testbed.runtime.endpoint,
      cgroupRoot: testbed.cgroupRoot,
      enableServer: false,
      readOnlyPort: 0,
      healthzPort: 0,
    };
    await writeFile(join(place, 'kubelet.json'), JSON.stringify(config));
    const pod = aManifest(name, {
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
    onTestFinished(async () => {
      kubelet.kill('SIGTERM');
      await kubelet.exited;
      await testbed.delete(`${name}-n1`);
    });
    const filesOf = async () => {
      const pod = (await listNames(podLogsDir)).find((each) => each.startsWith(`default_${name}-n1_`));
      const files = pod === undefined ? [] : await listNames(join(podLogsDir, pod, 'main'));
      const rotated = files.filter((file) => /^0\.log\.\d{8}-\d{6}$/.test(file));
      const compressed = files.filter((file) => /^0\.log\.\d{8}-\d{6}\.gz$/.test(file));
      const others = files.filter((file) => !rotated.includes(file) && !compressed.includes(file));
      return {rotated: rotated.length, compressed: compressed.length, others};
    };
    await until(async () => (await filesOf()).compressed >= COMPRESSED);
    const {containers} = await testbed.pod(`${name}-n1`);
    await testbed.exec(containers[0]!.id, 'touch', '/stop');
    let lines: readonly string[] = [];
    await until(async () => {
      lines = (await testbed.runtime.kcri(['logs', `${name}-n1/main`])).stdout.trimEnd().split('\n');
      return lines.at(-1)?.startsWith('end ') === true;
    });
    const count = Number(lines.at(-1)?.split(' ')[1]);
    expect(lines.slice(0, -1).map((line) => Number(line.split(' ')[1]))).toEqual(
      Array.from({length: count}, (_, index) => index + 1),
    );
    // While it compresses a file, there is another one.
    await expect
      .poll(filesOf)
      .toEqual({rotated: 1, compressed: expect.any(Number) as number, others: ['0.log']});
  });
});
