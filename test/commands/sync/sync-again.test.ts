import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {anImage, BUSYBOX} from '../../fakes/fake-runtime.js';
import {aContainerSpec, aManifest, createTestbed, aScript, expectUserError} from '../command-testbed.js';

describe('a repeated sync', () => {
  test('changes nothing if the manifest is unchanged', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('web.json', aManifest({initContainers: [aScript('setup', 'true')]}));
    await testbed.run(['sync', file]);
    const before = await testbed.listLeftovers();
    testbed.runtime.clearCalls();
    expect(await testbed.run(['sync', file])).toMatchObject({exitCode: 0, stderr: ''});
    expect(testbed.mutatingCalls).toEqual([]);
    expect(await testbed.listLeftovers()).toEqual(before);
  });

  test('changes nothing for a completed job', async () => {
    const testbed = await createTestbed();
    const spec = {restartPolicy: 'Never', containers: [aScript('main', 'exit 3')]};
    const file = await testbed.write('job.json', aManifest(spec));
    await testbed.run(['sync', file, '--wait', 'complete']);
    testbed.runtime.clearCalls();
    expect(await testbed.run(['sync', file, '--wait', 'complete'])).toMatchObject({exitCode: 3});
    expect(testbed.mutatingCalls).toEqual([]);
  });

  test('terminates the old pod first if the manifest has changed', async () => {
    const testbed = await createTestbed();
    await testbed.run(['sync', await testbed.write('web.json', aManifest())]);
    const [old] = testbed.runtime.sandboxes;
    testbed.runtime.clearCalls();
    const changed = aManifest({containers: [aContainerSpec('main', {command: ['sleep', '60']})]});
    expect(await testbed.run(['sync', await testbed.write('web.json', changed)])).toMatchObject({
      exitCode: 0,
    });
    expect(testbed.mutatingCalls).toEqual([
      'StopContainer',
      'StopPodSandbox',
      'RemoveContainer',
      'StopPodSandbox',
      'RemovePodSandbox',
      'RunPodSandbox',
      'CreateContainer',
      'StartContainer',
    ]);
    expect(testbed.runtime.sandboxes).toHaveLength(1);
    expect(testbed.runtime.sandboxes[0]?.id).not.toBe(old?.id);
    const {records, podDirs, logs} = await testbed.listLeftovers();
    expect([records, podDirs, logs].map((names) => names?.length)).toEqual([1, 1, 1]);
  });

  test('restarts only the container with a changed image if the manifest has a UID', async () => {
    const other = 'localhost:5000/other:2';
    const testbed = await createTestbed({images: [anImage(), anImage({name: other})]});
    const manifest = (image: string): string =>
      aManifest({
        metadata: {uid: 'my-uid'},
        containers: [aContainerSpec('stays'), aContainerSpec('changes', {image})],
      });
    await testbed.run(['sync', await testbed.write('web.json', manifest(BUSYBOX))]);
    testbed.runtime.clearCalls();
    expect(await testbed.run(['sync', await testbed.write('web.json', manifest(other))])).toMatchObject({
      exitCode: 0,
    });
    expect(testbed.mutatingCalls).toEqual(['StopContainer', 'CreateContainer', 'StartContainer']);
    expect(testbed.runtime.callsTo('CreateContainer')[0]?.request).toMatchObject({
      config: {metadata: {name: 'changes', attempt: 1}},
    });
    expect(testbed.runtime.sandboxes).toHaveLength(1);
  });

  test('creates the pod again if the runtime has lost it', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('web.json', aManifest());
    await testbed.run(['sync', file]);
    testbed.runtime.state.sandboxes.clear();
    testbed.runtime.state.containers.clear();
    expect(await testbed.run(['sync', file])).toMatchObject({exitCode: 0});
    expect(testbed.runtime.sandboxes).toHaveLength(1);
  });

  test('rejects the UID of another pod of kcri', async () => {
    const testbed = await createTestbed();
    const metadata = {uid: 'my-uid'};
    await testbed.run(['sync', await testbed.write('a.json', aManifest({name: 'a', metadata}))]);
    testbed.runtime.clearCalls();
    const result = await testbed.run([
      'sync',
      await testbed.write('b.json', aManifest({name: 'b', metadata})),
    ]);
    expectUserError(result);
    expect(result.stderr).toContain('the UID "my-uid" of pod "default/b" already belongs to pod "default/a"');
    expect(result.stderr).toContain(
      'hint: set another metadata.uid in the manifest, or run "kcri delete default/a"',
    );
    expect(result.exitCode).toBe(1);
    expect(testbed.mutatingCalls).toEqual([]);
    expect(result.stderr).not.toContain('was kept');

    const removing = await testbed.run(['sync', join(testbed.directory, 'b.json'), '--rm']);
    expect(removing.exitCode).toBe(1);
    expect(removing.stderr).not.toContain('kcri delete default/b');
    expect(testbed.runtime.sandboxes).toMatchObject([{state: 'SANDBOX_READY'}]);
  });

  test('reports what is left if the old pod cannot be terminated', async () => {
    const testbed = await createTestbed();
    await testbed.run(['sync', await testbed.write('web.json', aManifest())]);
    testbed.runtime.injectError('StopContainer', {code: 'UNKNOWN', message: 'it will not stop'});
    const file = await testbed.write('web.json', aManifest({hostname: 'other'}));
    const {stderr, exitCode} = await testbed.run(['sync', file]);
    expect(stderr).toContain('kcri: pod "default/web": container "main": KillContainerError: ');
    expect(stderr).toContain(
      'was kept; none of its containers is running\nhint: run "kcri delete default/web" to delete it',
    );
    expect(exitCode).toBe(1);
    testbed.runtime.clearFaults();
    expect(await testbed.run(['sync', file])).toMatchObject({exitCode: 0});
    expect(testbed.runtime.sandboxes).toHaveLength(1);
  });
});
