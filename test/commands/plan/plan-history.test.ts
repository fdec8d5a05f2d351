import {readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {aContainerSpec, aManifest, aScene, type PodScene} from '../pod-scene.js';

const LIMITED = aManifest({
  metadata: {uid: 'fixed'},
  containers: [aContainerSpec('main', {volumeMounts: [{name: 'data', mountPath: '/data'}]})],
  volumes: [{name: 'data', emptyDir: {sizeLimit: '1Mi'}}],
});

async function sync(scene: PodScene, manifest: string): Promise<number> {
  return (await scene.run(['sync', '-'], {stdin: manifest})).exitCode;
}

async function planned(scene: PodScene, manifest: string): Promise<readonly string[]> {
  const {stdout, stderr, exitCode} = await scene.run(['plan', '-', '-o', 'json'], {stdin: manifest});
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  const plans = JSON.parse(stdout) as readonly {readonly calls: readonly {readonly method: string}[]}[];
  return plans.flatMap(({calls}) => calls.map(({method}) => method));
}

/** All that is kept of what happened to the pods. */
async function kept(scene: PodScene): Promise<readonly string[]> {
  const files = ['events', 'statuses'].map(async (name) => {
    const directory = join(scene.rootDir, name);
    return await Promise.all(
      (await readdir(directory)).map((file) => readFile(join(directory, file), 'utf8')),
    );
  });
  return (await Promise.all(files)).flat();
}

test('nothing is planned for a pod that was evicted, as a sync does nothing, and nothing is taken down', async () => {
  const scene = await aScene();
  expect(await sync(scene, LIMITED)).toBe(0);
  const volume = join(scene.rootDir, 'pods/fixed/volumes/kubernetes.io~empty-dir/data');
  await writeFile(join(volume, 'file'), Buffer.alloc(2 * 1024 * 1024, 1));
  expect(await sync(scene, LIMITED)).toBe(1);

  const before = await kept(scene);
  expect(await planned(scene, LIMITED)).toEqual([]);
  expect(await kept(scene)).toEqual(before);
});

test('a pod that has ended takes no port of the host in a plan either', async () => {
  const scene = await aScene({behaviour: () => ({exitCode: 0})});
  const ports = [{containerPort: 80, hostPort: 8080}];
  const aServer = (name: string): string =>
    aManifest({name, restartPolicy: 'Never', containers: [aContainerSpec('main', {ports})]});
  expect((await scene.run(['sync', '-', '--wait', 'complete'], {stdin: aServer('one')})).exitCode).toBe(0);

  expect(await planned(scene, aServer('two'))).toContain('RunPodSandbox');
});
