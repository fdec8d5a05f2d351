import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {anImage, BUSYBOX} from '../../fakes/fake-runtime.js';
import {aContainerSpec, aManifest, aScene, aScript, expectUserError} from '../pod-scene.js';

describe('syncing again', () => {
  test('changes nothing when nothing has changed', async () => {
    const scene = await aScene();
    const file = await scene.write('web.json', aManifest({initContainers: [aScript('setup', 'true')]}));
    await scene.run(['sync', file]);
    const before = await scene.listLeftovers();
    scene.runtime.clearCalls();
    expect(await scene.run(['sync', file])).toMatchObject({exitCode: 0, stderr: ''});
    expect(scene.mutatingCalls).toEqual([]);
    expect(await scene.listLeftovers()).toEqual(before);
  });

  test('changes nothing when a job has ended', async () => {
    const scene = await aScene();
    const spec = {restartPolicy: 'Never', containers: [aScript('main', 'exit 3')]};
    const file = await scene.write('job.json', aManifest(spec));
    await scene.run(['sync', file, '--wait', 'complete']);
    scene.runtime.clearCalls();
    expect(await scene.run(['sync', file, '--wait', 'complete'])).toMatchObject({exitCode: 3});
    expect(scene.mutatingCalls).toEqual([]);
  });

  test('ends the old pod first when the manifest has changed', async () => {
    const scene = await aScene();
    await scene.run(['sync', await scene.write('web.json', aManifest())]);
    const [old] = scene.runtime.sandboxes;
    scene.runtime.clearCalls();
    const changed = aManifest({containers: [aContainerSpec('main', {command: ['sleep', '60']})]});
    expect(await scene.run(['sync', await scene.write('web.json', changed)])).toMatchObject({exitCode: 0});
    expect(scene.mutatingCalls).toEqual([
      'StopContainer',
      'StopPodSandbox',
      'RemoveContainer',
      'StopPodSandbox',
      'RemovePodSandbox',
      'RunPodSandbox',
      'CreateContainer',
      'StartContainer',
    ]);
    expect(scene.runtime.sandboxes).toHaveLength(1);
    expect(scene.runtime.sandboxes[0]?.id).not.toBe(old?.id);
    const {records, podDirs, logs} = await scene.listLeftovers();
    expect([records, podDirs, logs].map((names) => names?.length)).toEqual([1, 1, 1]);
  });

  test('restarts only the container whose image has changed when the manifest has a UID', async () => {
    const other = 'localhost:5000/other:2';
    const scene = await aScene({images: [anImage(), anImage({name: other})]});
    const manifest = (image: string): string =>
      aManifest({
        metadata: {uid: 'my-uid'},
        containers: [aContainerSpec('stays'), aContainerSpec('changes', {image})],
      });
    await scene.run(['sync', await scene.write('web.json', manifest(BUSYBOX))]);
    scene.runtime.clearCalls();
    expect(await scene.run(['sync', await scene.write('web.json', manifest(other))])).toMatchObject({
      exitCode: 0,
    });
    expect(scene.mutatingCalls).toEqual(['StopContainer', 'CreateContainer', 'StartContainer']);
    expect(scene.runtime.callsTo('CreateContainer')[0]?.request).toMatchObject({
      config: {metadata: {name: 'changes', attempt: 1}},
    });
    expect(scene.runtime.sandboxes).toHaveLength(1);
  });

  test('makes the pod anew when the runtime has lost it', async () => {
    const scene = await aScene();
    const file = await scene.write('web.json', aManifest());
    await scene.run(['sync', file]);
    scene.runtime.state.sandboxes.clear();
    scene.runtime.state.containers.clear();
    expect(await scene.run(['sync', file])).toMatchObject({exitCode: 0});
    expect(scene.runtime.sandboxes).toHaveLength(1);
  });

  test('refuses the UID of another pod of kcri', async () => {
    const scene = await aScene();
    const metadata = {uid: 'my-uid'};
    await scene.run(['sync', await scene.write('a.json', aManifest({name: 'a', metadata}))]);
    scene.runtime.clearCalls();
    const result = await scene.run(['sync', await scene.write('b.json', aManifest({name: 'b', metadata}))]);
    expectUserError(result);
    expect(result.stderr).toContain('the UID "my-uid" of pod "default/b" already belongs to pod "default/a"');
    expect(result.stderr).toContain(
      'hint: set another metadata.uid in the manifest, or run "kcri delete default/a"',
    );
    expect(result.exitCode).toBe(1);
    expect(scene.mutatingCalls).toEqual([]);
    expect(result.stderr).not.toContain('is not removed');

    const removing = await scene.run(['sync', join(scene.directory, 'b.json'), '--rm']);
    expect(removing.exitCode).toBe(1);
    expect(removing.stderr).not.toContain('kcri delete default/b');
    expect(scene.runtime.sandboxes).toMatchObject([{state: 'SANDBOX_READY'}]);
  });

  test('tells what is left when the old pod could not be ended', async () => {
    const scene = await aScene();
    await scene.run(['sync', await scene.write('web.json', aManifest())]);
    scene.runtime.injectError('StopContainer', {code: 'UNKNOWN', message: 'it will not stop'});
    const file = await scene.write('web.json', aManifest({hostname: 'other'}));
    const {stderr, exitCode} = await scene.run(['sync', file]);
    expect(stderr).toContain('kcri: pod "default/web": container "main": KillContainerError: ');
    expect(stderr).toContain(
      'is not removed; no container is running\nhint: run "kcri delete default/web" to delete it',
    );
    expect(exitCode).toBe(1);
    scene.runtime.clearFaults();
    expect(await scene.run(['sync', file])).toMatchObject({exitCode: 0});
    expect(scene.runtime.sandboxes).toHaveLength(1);
  });
});
