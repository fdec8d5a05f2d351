import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {fillDisk} from '../harness/fill-disk.js';
import {aContainer, aManifest} from '../harness/manifests.js';
import {startPodTestbed} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';
import {mountSmallDisk} from '../harness/small-disk.js';

describe.each(newestRuntime)('a full disk: $name', (which) => {
  test('kcri sync says that no space is left, and kcri delete deletes a pod', async () => {
    const disk = await mountSmallDisk(200);
    onTestFinished(async () => {
      await disk[Symbol.asyncDispose]();
    });
    await using testbed = await startPodTestbed(which, disk.path);
    const manifest = (name: string): string =>
      aManifest(name, {hostNetwork: true, terminationGracePeriodSeconds: 1, containers: [aContainer()]});
    expect(await testbed.sync(manifest('first'))).toMatchObject({exitCode: 0});
    const {uid} = await testbed.pod('first');
    await fillDisk(join(disk.path, 'fill'));

    const second = await testbed.sync(manifest('second'));
    expect(second.exitCode).not.toBe(0);
    expect(second.stderr).toContain('no space left on device');
    expect(await testbed.find('second')).toBeUndefined();
    expect(await testbed.delete('first')).toMatchObject({exitCode: 0, stderr: ''});
    expect(await testbed.listLeftovers(uid)).toEqual([]);
  });
});
