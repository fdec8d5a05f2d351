import {expect, test} from 'vitest';
import {InterruptedError} from '../../../src/cli/process/interrupt.js';
import {until} from '../../base/until.js';
import {aManifest, createTestbed, expectUserError} from '../command-testbed.js';

// Proves: sync --print-unit
test('sync --print-unit prints a unit and changes nothing', async () => {
  const testbed = await createTestbed();
  const {stdout, exitCode} = await testbed.run(['sync', 'web.yaml', '--print-unit']);
  expect(stdout).toMatch(
    /^ExecStart=.* sync --pod-logs-dir \S+ web\.yaml --wait=complete --timeout=87600h$/m,
  );
  expect(exitCode).toBe(0);
  expect(testbed.runtime.calls).toEqual([]);
});

test('sync --print-unit rejects standard input', async () => {
  const testbed = await createTestbed();
  const result = await testbed.run(['sync', '-', '--print-unit']);
  expectUserError(result);
  expect(result.exitCode).toBe(1);
});

test('the command of the unit restarts containers, and leaves the pods running when it is stopped', async () => {
  const testbed = await createTestbed();
  const controller = new AbortController();
  const running = testbed.run(['sync', '-', '--wait=complete', '--timeout=87600h'], {
    stdin: aManifest({restartPolicy: 'Always'}),
    signal: controller.signal,
  });
  const started = () => testbed.runtime.callsTo('StartContainer').length;
  await until(() => started() === 1 && testbed.runtime.containers[0]?.state === 'CONTAINER_RUNNING');
  testbed.runtime.exitContainer(testbed.runtime.containers[0]!.id, 0);
  await until(() => started() === 2);
  controller.abort(new InterruptedError('SIGTERM'));
  await running;
  expect(testbed.runtime.callsTo('StopPodSandbox')).toEqual([]);
  expect(testbed.runtime.sandboxes).toMatchObject([{state: 'SANDBOX_READY'}]);
});
