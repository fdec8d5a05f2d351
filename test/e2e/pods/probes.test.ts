import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {aContainer, aManifest} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const shell = (script: string): readonly string[] => ['sh', '-c', script];

describe.each(newestRuntime)('probes: $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  /** Deletes the pod at the end of the test and expects that nothing is left. */
  function deletedAtTheEnd(name: string): void {
    onTestFinished(async () => {
      const {uid} = await testbed.pod(name);
      await testbed.delete(name);
      expect(await testbed.listLeftovers(uid)).toEqual([]);
    });
  }

  test('a sync waits until exec, HTTP and TCP probes succeed', async () => {
    const command = shell(
      'sleep 3; mkdir /www; httpd -p 8080 -h /www; touch /www/up; sleep 3; echo yes > /www/ready; exec sleep 3600',
    );
    const web = aContainer('web', {
      command,
      ports: [{name: 'http', containerPort: 8080}],
      startupProbe: {exec: {command: ['test', '-f', '/www/up']}, periodSeconds: 1, failureThreshold: 30},
      readinessProbe: {httpGet: {path: '/ready', port: 'http'}, periodSeconds: 1},
      livenessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1, failureThreshold: 10},
    });
    deletedAtTheEnd('probes-web');

    const {exitCode, stderr, stdout} = await testbed.sync(
      aManifest('probes-web', {terminationGracePeriodSeconds: 1, containers: [web]}),
    );

    expect(exitCode, stderr).toBe(0);
    const [container] = (await testbed.pod('probes-web')).containers;
    expect(await testbed.exec(container!.id, 'cat', '/www/ready')).toBe('yes');
    expect(stdout).toContain('container web running, not ready');
  });

  test('an unhealthy container is restarted while the sync waits', async () => {
    const ill = aContainer('ill', {
      command: shell('touch /tmp/ok; sleep 1; rm /tmp/ok; exec sleep 3600'),
      livenessProbe: {exec: {command: ['cat', '/tmp/ok']}, periodSeconds: 1, failureThreshold: 1},
    });
    const manifest = aManifest('probes-ill', {terminationGracePeriodSeconds: 1, containers: [ill]});
    deletedAtTheEnd('probes-ill');

    const sync = testbed.startSync(manifest, ['--wait', 'complete', '--timeout', '1m']);
    await until(async () => ((await testbed.find('probes-ill'))?.containers.length ?? 0) > 1);
    sync.kill('SIGINT');
    const {stdout, stderr} = await sync.exited;

    expect(`${stdout}${stderr}`).toContain("Liveness probe failed: cat: can't open '/tmp/ok'");
    const [newest, before] = (await testbed.pod('probes-ill')).containers;
    expect([newest?.metadata?.attempt, before?.state]).toEqual([1, 'CONTAINER_EXITED']);
  });

  test('a pod is terminated at its deadline', async () => {
    const manifest = aManifest('probes-late', {
      activeDeadlineSeconds: 1,
      terminationGracePeriodSeconds: 1,
      containers: [aContainer('main', {command: ['sleep', '3600']})],
    });
    deletedAtTheEnd('probes-late');

    const {exitCode, stdout, stderr} = await testbed.sync(manifest, ['--wait', 'complete']);

    expect(exitCode).not.toBe(0);
    expect(`${stdout}${stderr}`).toContain('Pod was active on the node longer than the specified deadline');
    expect((await testbed.pod('probes-late')).containers.map(({state}) => state)).toEqual([
      'CONTAINER_EXITED',
    ]);
  });
});
