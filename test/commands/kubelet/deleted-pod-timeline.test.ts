import {expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {aContainerSpec, aManifest} from '../command-testbed.js';
import {startKubelet} from './kubelet-testbed.js';

interface ShownPod {
  readonly name: string;
  readonly uid: string;
  readonly deleted?: true;
  readonly phases: readonly {readonly phase: string; readonly subject?: string}[];
}

test('the timeline of a pod can be read after its deletion, by its name and UID', async () => {
  const {run, writeManifest, removeManifest} = await startKubelet();
  const timeline = async (...args: string[]): Promise<readonly ShownPod[]> => {
    const {stdout} = await run(['timeline', ...args, '-o', 'json']);
    return stdout === '' ? [] : (JSON.parse(stdout) as {readonly pods: readonly ShownPod[]}).pods;
  };
  const containers = [aContainerSpec('main')];
  await writeManifest('web.yaml', aManifest({containers, terminationGracePeriodSeconds: 0}));
  await until(async () => (await timeline())[0]?.phases.some(({phase}) => phase === 'readiness') === true);
  const [present] = await timeline('web-n1');
  expect(present).not.toHaveProperty('deleted');
  await removeManifest('web.yaml');
  await until(async () => (await timeline()).length === 0);
  const [deleted] = await timeline('web-n1');
  expect(deleted).toMatchObject({name: 'web-n1', uid: present!.uid, deleted: true});
  expect(deleted?.phases.map(({phase, subject = ''}) => `${phase} ${subject}`.trim())).toEqual(
    expect.arrayContaining(['sandbox', 'start main', 'readiness main', 'running main', 'stop main']),
  );
  expect(await timeline(present!.uid)).toMatchObject([{deleted: true}]);
  expect((await run(['timeline', 'default/web-n1'])).stdout).toMatch(/^default\/web-n1 {2}kcri {2}deleted\n/);
  expect(await run(['timeline', 'web-n1', '-n', 'other'])).toMatchObject({stdout: '', exitCode: 1});
  expect(await run(['timeline', 'web-n1', '--manager', 'none'])).toMatchObject({stdout: '', exitCode: 1});
  // One of two words names no pod.
  const {stdout, stderr, exitCode} = await run(['timeline', 'web-n1', 'nothing']);
  expect({stderr, exitCode}).toEqual({
    stderr: expect.stringContaining('pod "nothing" not found') as string,
    exitCode: 1,
  });
  expect(stdout).toMatch(/^default\/web-n1 /);
});
