import {readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {aContainerSpec, aManifest, createTestbed, type CommandTestbed} from '../command-testbed.js';

const LIMITED = aManifest({
  metadata: {uid: 'fixed'},
  containers: [aContainerSpec('main', {volumeMounts: [{name: 'data', mountPath: '/data'}]})],
  volumes: [{name: 'data', emptyDir: {sizeLimit: '1Mi'}}],
});

async function sync(testbed: CommandTestbed, manifest: string): Promise<number> {
  return (await testbed.run(['sync', '-'], {stdin: manifest})).exitCode;
}

async function planOf(testbed: CommandTestbed, manifest: string): Promise<readonly string[]> {
  const {stdout, stderr, exitCode} = await testbed.run(['plan', '-', '-o', 'json'], {stdin: manifest});
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  const plans = JSON.parse(stdout) as readonly {readonly calls: readonly {readonly method: string}[]}[];
  return plans.flatMap(({calls}) => calls.map(({method}) => method));
}

/** Returns all history files of the pods. */
async function historyFiles(testbed: CommandTestbed): Promise<readonly string[]> {
  const files = ['kcri/events', 'kcri/statuses'].map(async (name) => {
    const directory = join(testbed.rootDir, name);
    return await Promise.all(
      (await readdir(directory)).map((file) => readFile(join(directory, file), 'utf8')),
    );
  });
  return (await Promise.all(files)).flat();
}

test('plans nothing for an evicted pod, like a sync, and records nothing', async () => {
  const testbed = await createTestbed();
  expect(await sync(testbed, LIMITED)).toBe(0);
  const volume = join(testbed.rootDir, 'pods/fixed/volumes/kubernetes.io~empty-dir/data');
  await writeFile(join(volume, 'file'), Buffer.alloc(2 * 1024 * 1024, 1));
  expect(await sync(testbed, LIMITED)).toBe(1);

  const before = await historyFiles(testbed);
  expect(await planOf(testbed, LIMITED)).toEqual([]);
  expect(await historyFiles(testbed)).toEqual(before);
});

test('a terminated pod does not occupy host ports in a plan', async () => {
  const testbed = await createTestbed({behaviour: () => ({exitCode: 0})});
  const ports = [{containerPort: 80, hostPort: 8080}];
  const aServer = (name: string): string =>
    aManifest({name, restartPolicy: 'Never', containers: [aContainerSpec('main', {ports})]});
  expect((await testbed.run(['sync', '-', '--wait', 'complete'], {stdin: aServer('one')})).exitCode).toBe(0);

  expect(await planOf(testbed, aServer('two'))).toContain('RunPodSandbox');
});
