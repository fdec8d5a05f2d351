import {execFileSync} from 'node:child_process';
import {rename, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aContainerSpec, aManifest} from '../../../commands/pod-scene.js';
import {DaemonTestbed, NOTHING_LEFT} from '../daemon-testbed.js';

const MINUTE_MS = 60_000;

test('a manifest directory that vanishes takes its pods with it, and brings them back when it returns', async () => {
  await using ground = await DaemonTestbed.start();
  await ground.put('web.yaml', aManifest());
  await ground.until('the pod runs', () => ground.statusOf('web').ready === 1);

  await rename(ground.manifestsDir, `${ground.manifestsDir}-away`);
  await ground.untilNothingIsLeft();
  await rename(`${ground.manifestsDir}-away`, ground.manifestsDir);
  await ground.until('the pod runs again', () => ground.statusOf('web').ready === 1);

  expect(ground.running).toEqual(['web-goldennode/main/0']);
  expect(ground.mostAtOnce).toBe(1);
});

test('a thousand edits in a second end with one pod, of the last edit, and nothing of those before', async () => {
  await using ground = await DaemonTestbed.start();
  for (let edit = 1; edit <= 1000; edit += 1)
    await writeFile(
      join(ground.manifestsDir, 'web.yaml'),
      aManifest({containers: [aContainerSpec('main', {env: [{name: 'EDIT', value: String(edit)}]})]}),
    );
  const edits = (): readonly string[] =>
    ground.ownContainers.map(({config}) => String(config.envs.find(({key}) => key === 'EDIT')?.value));

  await ground.until(
    'the last one runs alone',
    () => edits().join() === '1000' && ground.statusOf('web').ready === 1,
  );

  expect(ground.mostAtOnce).toBe(1);
  await ground.until(
    'nothing of the others is left',
    async () => (await ground.listRemains())['records']?.length === 1,
  );
  await ground.remove('web.yaml');
  await ground.untilNothingIsLeft();
});

/** Only root can mount. */
describe.skipIf(process.getuid?.() !== 0)('a disk that is full (needs root)', () => {
  test('starts nothing new, leaves what runs alone, is told of, and is recovered from', async () => {
    const rootDir = await temporaryDirectory();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', rootDir]);
    onTestFinished(() => {
      execFileSync('umount', [rootDir]);
    });
    await using ground = await DaemonTestbed.start({rootDir});
    await ground.put('web.yaml', aManifest());
    await ground.until('the pod runs', () => ground.statusOf('web').ready === 1);

    const ballast = join(rootDir, 'ballast');
    await expect(writeFile(ballast, Buffer.alloc(1024 * 1024))).rejects.toThrow('ENOSPC');
    await ground.put('new.yaml', aManifest({name: 'new'}));
    await ground.until('it is told', () => ground.errors.some((error) => error.includes('no space left')));
    ground.kill('main');
    await ground.until('what has died runs again', () => ground.running.includes('web-goldennode/main/1'));
    await ground.clock.sleep(2 * MINUTE_MS);
    expect(ground.running).toEqual(['web-goldennode/main/1']);
    // Once for what was written of pods that run, and each time that the new one is tried.
    const told = ground.errors.filter((error) => error.includes('no space left'));
    expect(told.filter((error) => !error.startsWith('Error syncing pod'))).toHaveLength(1);
    expect(told.length).toBeLessThan(15);

    await rm(ballast);
    await ground.until('the new pod runs', () => ground.statusOf('new').ready === 1);
    expect(ground.running).toEqual(['new-goldennode/main/0', 'web-goldennode/main/1']);
    for (const file of ['web.yaml', 'new.yaml']) await ground.remove(file);
    await ground.untilNothingIsLeft();
    expect(await ground.listRemains()).toEqual(NOTHING_LEFT);
    expect(ground.foreignTouched).toEqual([]);
  });
});
