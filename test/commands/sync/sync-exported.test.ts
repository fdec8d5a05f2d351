import {describe, expect, test} from 'vitest';
import {DAEMON_SET_POD} from '../../api/exported/exported-pods.js';
import {runKcri} from '../../cli/run-kcri.js';
import {BUSYBOX} from '../../fakes/fake-runtime.js';
import {createSyncedTestbed, createTestbed, isMutatingCall, onlyRecord} from '../command-testbed.js';

const busybox = (text: string): string =>
  text.replace('"agent:3"', `"${BUSYBOX}", imagePullPolicy: IfNotPresent`);

describe('sync of an exported pod', () => {
  test('runs the pod of the manifest, with one note, and deletes it by either text', async () => {
    const testbed = await createTestbed();
    const {exitCode, stderr} = await testbed.run(['sync', '-'], {stdin: busybox(DAEMON_SET_POD.exported)});
    expect({exitCode, stderr}).toEqual({
      exitCode: 0,
      stderr: expect.stringMatching(
        /^kcri: note: ignored what an API server added to pod "default\/agent-vm2s8": metadata\.creationTimestamp, .*\n$/,
      ) as string,
    });
    const {uid} = await onlyRecord(testbed);
    expect(uid).not.toBe('0d');
    testbed.runtime.clearCalls();
    const manifest = await testbed.write('agent.yaml', busybox(DAEMON_SET_POD.manifest));
    expect(await testbed.run(['sync', manifest])).toMatchObject({exitCode: 0, stderr: ''});
    expect(testbed.mutatingCalls).toEqual([]);
    expect(await testbed.run(['delete', manifest])).toMatchObject({exitCode: 0});
    expect(testbed.runtime.sandboxes).toEqual([]);
  });

  test('has no effect for what get pods prints of a synced pod', async () => {
    const testbed = await createSyncedTestbed();
    const {runtime, rootDir} = testbed;
    const listed = await runKcri(['--root-dir', rootDir, 'get', 'pods', '-o', 'yaml'], {
      endpoint: runtime.endpoint,
    });
    const {exitCode} = await testbed.run(['sync', '-'], {stdin: listed.stdout});
    expect(exitCode).toBe(0);
    expect(runtime.calls.map(({method}) => method).filter(isMutatingCall)).toEqual([]);
  });

  test('is planned on standard output, with the note on standard error', async () => {
    const testbed = await createTestbed();
    const options = {stdin: busybox(DAEMON_SET_POD.exported)};
    const {stdout, stderr, exitCode} = await testbed.run(['plan', '--offline', '-o', 'json', '-'], options);
    expect({exitCode, plans: JSON.parse(stdout) as unknown}).toMatchObject({exitCode: 0, plans: [{}]});
    expect(stderr).toContain('spec.affinity.nodeAffinity');
  });
});
