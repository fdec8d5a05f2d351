import {createWriteStream} from 'node:fs';
import {join} from 'node:path';
import {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {describe, expect, onTestFinished, test} from 'vitest';
import {aContainer, aManifest} from '../harness/manifests.js';
import {startPodTestbed} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';
import {mountSmallDisk} from '../harness/small-disk.js';

const BLOCK = Buffer.alloc(64 * 1024);

/** Writes to a file until no space is left. */
async function fill(path: string): Promise<void> {
  const endless = Readable.from(
    (function* (): Generator<Buffer> {
      for (;;) yield BLOCK;
    })(),
  );
  await expect(pipeline(endless, createWriteStream(path))).rejects.toThrow('ENOSPC');
}

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
    await fill(join(disk.path, 'fill'));

    const second = await testbed.sync(manifest('second'));
    expect(second.exitCode).not.toBe(0);
    expect(second.stderr).toContain('no space left on device');
    expect(await testbed.find('second')).toBeUndefined();
    expect(await testbed.delete('first')).toMatchObject({exitCode: 0, stderr: ''});
    expect(await testbed.listLeftovers(uid)).toEqual([]);
  });
});
