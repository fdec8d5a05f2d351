import {expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {aContainerSpec, aManifest, createTestbed} from '../command-testbed.js';
import {AutoAdvance, FakeClock, TEST_TIME_MS} from '../../fakes/fake-clock.js';

const command = ['sh', '-c', 'echo no database; exit 1'];
const UNREADY = aContainerSpec('main', {readinessProbe: {exec: {command}, periodSeconds: 1}});

test('sync without a time limit says why a pod is not ready, what would end the wait, and how long it lasted', async () => {
  const testbed = await createTestbed();
  const controller = new AbortController();
  const syncing = testbed.run(['sync', '-'], {
    stdin: aManifest({containers: [UNREADY]}),
    signal: controller.signal,
  });
  await until(() => testbed.runtime.callsTo('ExecSync').length >= 3);
  controller.abort();
  const {stderr} = await syncing;
  expect(stderr.match(/container main: Readiness probe failed: no database \(after .*s\)$/gm)).toHaveLength(
    1,
  );
  expect(stderr.match(/use --timeout to limit the wait, or Ctrl-C to leave the pod running$/gm)).toHaveLength(
    1,
  );
  expect(stderr).toMatch(
    /^default\/web: not ready after .*s; container "main": Readiness probe failed: no database$/m,
  );
});

/** Syncs a pod with a time limit of 3 s on a clock that waits for calls, and returns standard error. */
async function syncToTimeLimit(stdin: string): Promise<string> {
  const clock = new FakeClock({nowMs: TEST_TIME_MS});
  const testbed = await createTestbed({clock});
  using _ = new AutoAdvance(clock);
  return (await testbed.run(['sync', '-', '--timeout=3s'], {stdin, clock})).stderr;
}

test('a time limit reports the last probe failure', async () => {
  const stderr = await syncToTimeLimit(aManifest({containers: [UNREADY]}));
  expect(stderr).toContain('not ready after 3s; container "main": Readiness probe failed: no database');
});

test('a restart by a liveness probe is reported as such', async () => {
  const testbed = await createTestbed();
  const controller = new AbortController();
  const livenessProbe = {exec: {command}, periodSeconds: 1, failureThreshold: 1};
  const container = {...UNREADY, livenessProbe};
  const syncing = testbed.run(['sync', '-'], {
    stdin: aManifest({containers: [container], terminationGracePeriodSeconds: 0}),
    signal: controller.signal,
  });
  await until(() => testbed.runtime.callsTo('StopContainer').length > 0);
  controller.abort();
  expect((await syncing).stderr).toMatch(/Container main failed liveness probe, will be restarted \(after /);
});

test('a failure without output has no colon', async () => {
  const silent = {exec: {command: ['sh', '-c', 'exit 1']}, periodSeconds: 1};
  const manifest = aManifest({containers: [aContainerSpec('main', {readinessProbe: silent})]});
  const stderr = await syncToTimeLimit(manifest);
  expect(stderr).toMatch(/not ready after 3s; container "main": Readiness probe failed$/m);
});
