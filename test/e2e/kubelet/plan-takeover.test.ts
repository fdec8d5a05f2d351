import {lstat, readdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {startKubeletTestbed, type KubeletTestbed} from '../harness/kubelet-testbed.js';
import {aContainer, aManifest} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const NODE = 'takeover-node';

describe.each(newestRuntime)('kcri plan --takeover: $name', (which) => {
  let testbed: KubeletTestbed;

  beforeAll(async () => {
    testbed = await startKubeletTestbed(which, NODE);
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  /** Returns the files of the kubelet and what the runtime has. */
  const observe = async (): Promise<unknown> => {
    const {runtime, logsDir} = testbed.podTestbed;
    const directories = [join(runtime.rootDir, 'pods'), logsDir];
    const found = await Promise.all(
      directories.map(async (directory) => {
        const paths = (await readdir(directory, {recursive: true})).toSorted();
        return await Promise.all(
          paths.map(async (path) => {
            const {mode, size, mtimeMs, ctimeMs} = await lstat(join(directory, path));
            return [path, mode, size, mtimeMs, ctimeMs];
          }),
        );
      }),
    );
    const names = await readdir(runtime.rootDir);
    const lists = [
      await runtime.kcri(['ps', '-a', '-o', 'json']),
      await runtime.kcri(['pods', '-o', 'json']),
    ];
    return {found, names, lists: lists.map(({stdout}) => stdout)};
  };

  test('says what the daemon would do with the pods of another kubelet, and changes nothing', async () => {
    const {runtime} = testbed.podTestbed;
    await testbed.put('web', aManifest('web'));
    const {kcri} = await testbed.start();
    await kcri.waitForOutput(/"Started container"|Started container main|Container started/);
    kcri.kill('SIGTERM');
    await kcri.exited;
    await rm(join(runtime.rootDir, 'kcri'), {recursive: true});
    const plan = async () =>
      await runtime.kcri([
        ...['plan', '--takeover', '--config', join(runtime.rootDir, 'kubelet.yaml')],
        ...['--hostname-override', NODE, '--no-admission'],
      ]);
    const before = await observe();

    const kept = await plan();
    expect(kept).toMatchObject({stderr: '', exitCode: 0});
    expect(kept.stdout).toContain(': 1 pod: 1 kept');
    expect(await observe()).toEqual(before);

    await testbed.put(
      'web',
      aManifest('web', {containers: [aContainer('main', {image: 'example.com/newer:2'})]}),
    );
    const restarted = await plan();
    expect(restarted).toMatchObject({stderr: '', exitCode: 1});
    expect(restarted.stdout).toContain(`pod default/web-${NODE} (uid `);
    expect(restarted.stdout).toMatch(/~ metadata\.uid: "[0-9a-f]{32}" → "[0-9a-f]{32}"/);
    expect(restarted.stdout).toContain('"example.com/newer:2"');
    expect(await observe()).toEqual(before);
  });
});
