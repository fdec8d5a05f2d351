import {describe, expect, test} from 'vitest';
import {DAEMON_SET_POD, DEPLOYMENT_POD} from '../../api/exported/exported-pods.js';
import {runKcri} from '../../cli/run-kcri.js';
import {BUSYBOX} from '../../fakes/fake-runtime.js';
import {createSyncedTestbed, createTestbed, isMutatingCall, onlyRecord} from '../command-testbed.js';

const DEPLOYMENT = `
apiVersion: apps/v1
kind: Deployment
metadata:
  annotations: {deployment.kubernetes.io/revision: "1"}
  creationTimestamp: "2026-11-20T09:12:40Z"
  generation: 1
  name: web
  namespace: default
  resourceVersion: "5"
  uid: 0d
spec:
  progressDeadlineSeconds: 600
  replicas: 2
  selector: {matchLabels: {app: web}}
  strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}, type: RollingUpdate}
  template:
    metadata: {creationTimestamp: null, labels: {app: web}}
    spec:
      containers: [{name: web, image: "${BUSYBOX}", imagePullPolicy: IfNotPresent, command: [sleep, "60"]}]
      schedulerName: default-scheduler
status: {availableReplicas: 2, fieldOfNewerServer: 1}
`;

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

  // Proves: plan --strict, plan --offline
  test('is rejected by --strict if containers may miss their token, and accepted otherwise', async () => {
    const testbed = await createTestbed();
    const run = async (stdin: string) => await testbed.run(['plan', '--offline', '--strict', '-'], {stdin});
    const {stderr, exitCode} = await run(DEPLOYMENT_POD.exported);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/stdin:\d+:5: spec\.volumes\[1\]: Forbidden: volume "kube-api-access-x7k2p": /);
    expect(await run(busybox(DAEMON_SET_POD.exported))).toMatchObject({exitCode: 0});
  });

  test('runs the pods of an exported Deployment', async () => {
    const testbed = await createTestbed();
    const {exitCode, stderr} = await testbed.run(['sync', '-'], {stdin: DEPLOYMENT});
    expect({exitCode, pods: testbed.runtime.sandboxes.length}).toEqual({exitCode: 0, pods: 2});
    expect(stderr).toMatch(
      /^kcri: note: ignored what an API server added to Deployment "default\/web": .*status\n$/,
    );
  });

  test('is planned on standard output, with the note on standard error', async () => {
    const testbed = await createTestbed();
    const options = {stdin: busybox(DAEMON_SET_POD.exported)};
    const {stdout, stderr, exitCode} = await testbed.run(['plan', '--offline', '-o', 'json', '-'], options);
    expect({exitCode, plans: JSON.parse(stdout) as unknown}).toMatchObject({exitCode: 0, plans: [{}]});
    expect(stderr).toContain('spec.affinity.nodeAffinity');
  });
});
