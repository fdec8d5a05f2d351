import {execFileSync} from 'node:child_process';
import {mkdir, readdir, rename, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {ABANDONED_FILE} from '../../../base/abandoned-file.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {DaemonTestbed, NOTHING_REMAINS} from '../daemon-testbed.js';

const MINUTE_MS = 60_000;

test('removing the manifest directory removes its pods, and restoring it starts them again', async () => {
  await using testbed = await DaemonTestbed.start();
  await testbed.put('web.yaml', aManifest());
  await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 1);

  await rename(testbed.manifestsDir, `${testbed.manifestsDir}-away`);
  await testbed.untilAllRemoved();
  await rename(`${testbed.manifestsDir}-away`, testbed.manifestsDir);
  await testbed.until('the pod runs again', () => testbed.statusOf('web').ready === 1);

  expect(testbed.running).toEqual(['web-goldennode/main/0']);
  expect(testbed.maxConcurrentInstances).toBe(1);
});

test('a thousand edits in one second result in one pod with the last edit and no remains of the others', async () => {
  await using testbed = await DaemonTestbed.start();
  for (let edit = 1; edit <= 1000; edit += 1)
    await writeFile(
      join(testbed.manifestsDir, 'web.yaml'),
      aManifest({containers: [aContainerSpec('main', {env: [{name: 'EDIT', value: String(edit)}]})]}),
    );
  const edits = (): readonly string[] =>
    testbed.ownContainers.map(({config}) => String(config.envs.find(({key}) => key === 'EDIT')?.value));

  await testbed.until(
    'only the last one is running',
    () => edits().join() === '1000' && testbed.statusOf('web').ready === 1,
  );

  expect(testbed.maxConcurrentInstances).toBe(1);
  await testbed.until(
    'the others are removed',
    async () => (await testbed.listRemains())['records']?.length === 1,
  );
  await testbed.remove('web.yaml');
  await testbed.untilAllRemoved();
});

test('a kubelet that starts removes the temporary files of killed processes', async () => {
  const rootDir = await temporaryDirectory();
  await mkdir(join(rootDir, 'kcri/records'), {recursive: true});
  for (const directory of [rootDir, join(rootDir, 'kcri'), join(rootDir, 'kcri/records')])
    await writeFile(join(directory, ABANDONED_FILE), 'half');
  await using testbed = await DaemonTestbed.start({rootDir});
  await testbed.until('they are removed', async () =>
    (await readdir(rootDir, {recursive: true})).every((path) => !path.endsWith('.tmp')),
  );
});

/** Mounting requires root. */
describe.skipIf(process.getuid?.() !== 0)('a full disk (needs root)', () => {
  test('blocks new pods, does not affect running ones, is logged, and is recovered from', async () => {
    const rootDir = await temporaryDirectory();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', rootDir]);
    onTestFinished(() => {
      execFileSync('umount', [rootDir]);
    });
    await using testbed = await DaemonTestbed.start({rootDir});
    await testbed.put('web.yaml', aManifest());
    await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 1);

    const ballast = join(rootDir, 'ballast');
    await expect(writeFile(ballast, Buffer.alloc(1024 * 1024))).rejects.toThrow('ENOSPC');
    await testbed.put('new.yaml', aManifest({name: 'new'}));
    await testbed.until('the error is logged', () =>
      testbed.errors.some((error) => error.includes('no space left')),
    );
    testbed.kill('main');
    await testbed.until('the killed container runs again', () =>
      testbed.running.includes('web-goldennode/main/1'),
    );
    await testbed.clock.sleep(2 * MINUTE_MS);
    expect(testbed.running).toEqual(['web-goldennode/main/1']);
    // Two errors for what is stored of running pods, and one for each attempt to start the new pod.
    const diskErrors = testbed.errors.filter((error) => error.includes('no space left'));
    const others = diskErrors.filter((error) => !error.startsWith('Error syncing pod'));
    expect(others.filter((error) => error.includes('_pods_state'))).toHaveLength(1);
    expect(others).toHaveLength(2);
    expect(diskErrors.length).toBeLessThan(15);

    await rm(ballast);
    await testbed.until('the new pod runs', () => testbed.statusOf('new').ready === 1);
    expect(testbed.running).toEqual(['new-goldennode/main/0', 'web-goldennode/main/1']);
    for (const file of ['web.yaml', 'new.yaml']) await testbed.remove(file);
    await testbed.untilAllRemoved();
    expect(await testbed.listRemains()).toEqual(NOTHING_REMAINS);
    expect(testbed.callsToForeignPod).toEqual([]);
  });
});
