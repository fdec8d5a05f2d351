import {readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {topEventLines} from '../../../src/features/top/metrics/top-table.js';
import {runKcri} from '../../cli/run-kcri.js';
import {aManifest, createTestbed, type CommandTestbed} from '../command-testbed.js';
import {FAST_CLOCK} from '../interrupt-watch.js';

async function syncPods(testbed: CommandTestbed, ...manifests: readonly string[]): Promise<void> {
  const {exitCode, stderr} = await testbed.run(['sync', '-'], {stdin: manifests.join('\n---\n')});
  expect({exitCode, stderr}).toMatchObject({exitCode: 0});
}

async function top(testbed: CommandTestbed, args: readonly string[] = []) {
  return await runKcri(['--root-dir', testbed.rootDir, 'top', ...args], {clock: FAST_CLOCK});
}

test('prints pods, containers and events once in a pipe, and changes nothing', async () => {
  const testbed = await createTestbed();
  await syncPods(testbed, aManifest(), aManifest({name: 'api'}));
  testbed.runtime.clearCalls();
  const {stdout, stderr, exitCode} = await top(testbed);
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  expect(stdout).toMatch(/^POD +READY +STATE +RESTARTS +CPU % +MEM +AGE +PROBES\n/);
  expect(stdout).toMatch(/^default\/api +1\/1 +Running +0 +\S+ +\S+ +\d+s\s*\n {2}main +yes +Running +0 /m);
  expect(stdout).toMatch(/^default\/web +1\/1 +Running /m);
  expect(stdout).toMatch(/^\d+s +default\/web\/main {2}Normal {2}Started {2}Container started$/m);
  expect(testbed.mutatingCalls).toEqual([]);
});

test('strips trailing newlines of event messages, and names the container', () => {
  const event = {
    type: 'Warning',
    reason: 'Unhealthy',
    message: 'Readiness probe failed: no\n',
    count: 3,
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
    namespace: 'default',
    pod: 'web',
    fieldPath: 'spec.containers{main}',
  } as const;
  const [line] = topEventLines([event], Date.parse('2026-01-01T00:00:05Z'));
  expect(line).toMatch(/  default\/web\/main  .*Readiness probe failed: no \(x3\)$/);
});

test('-o json prints pods, containers, usage and events', async () => {
  const testbed = await createTestbed();
  await syncPods(testbed, aManifest(), aManifest({name: 'api'}));
  const {stdout} = await top(testbed, ['web', '-o', 'json']);
  expect(JSON.parse(stdout)).toMatchObject({
    pods: [
      {
        namespace: 'default',
        name: 'web',
        ready: '1/1',
        status: 'Running',
        memoryBytes: expect.any(Number) as number,
        containers: [{name: 'main', state: 'Running', ready: true, restarts: 0}],
      },
    ],
    events: expect.arrayContaining([
      expect.objectContaining({pod: 'web', reason: 'Started', message: 'Container started'}),
    ]) as unknown[],
  });
});

/** Stores exclusive CPUs of the only pod as a kubelet with the policy static does. */
async function pinCpus({rootDir}: CommandTestbed, container: string, cpus: string): Promise<void> {
  const [record = ''] = await readdir(join(rootDir, 'kcri', 'records'));
  const entries = {[record.replace('.json', '')]: {[container]: cpus}};
  const state = {policyName: 'static', defaultCpuSet: '0-1', entries, checksum: 0};
  await writeFile(join(rootDir, 'cpu_manager_state'), JSON.stringify(state));
}

test('shows the exclusive CPUs of containers', async () => {
  const testbed = await createTestbed();
  await syncPods(testbed, aManifest());
  await pinCpus(testbed, 'main', '2-3,7');
  const {stdout, stderr} = await top(testbed);
  expect(stderr).toBe('');
  expect(stdout).toMatch(/ AGE +EXCLUSIVE CPUS +PROBES\n/);
  expect(stdout).toMatch(/^ {2}main +yes .* 2-3,7 *$/m);
  const {stdout: json} = await top(testbed, ['-o', 'json']);
  expect(JSON.parse(json)).toMatchObject({pods: [{containers: [{exclusiveCpus: '2-3,7'}]}]});
});

test('warns once if exclusive CPUs cannot be read', async () => {
  const testbed = await createTestbed();
  await syncPods(testbed, aManifest());
  const path = join(testbed.rootDir, 'cpu_manager_state');
  await writeFile(path, '{"policyName":"static","defaultCpuSet":"1","checksum":7}');
  const {stdout, stderr, exitCode} = await top(testbed);
  const reason = `cannot read "${path}": checkpoint is corrupted`;
  expect({stderr, exitCode}).toEqual({
    stderr: `kcri: warning: exclusive CPUs are not shown: ${reason}\n`,
    exitCode: 0,
  });
  expect(stdout).toMatch(/^ {2}main +yes /m);
  expect(stdout).not.toContain('EXCLUSIVE');
});

test('prints the last status without usage if the runtime is unavailable', async () => {
  const testbed = await createTestbed();
  await syncPods(testbed, aManifest());
  await testbed.runtime.stop();
  const {stdout, stderr} = await top(testbed);
  expect(stdout).toMatch(/^default\/web +1\/1 +Running +0 +- +- /m);
  expect(stderr).toContain('is unavailable');
});

// Proves: top, top --once, top --namespace, top --selector
test('prints only pods of a namespace and with labels', async () => {
  const testbed = await createTestbed();
  await syncPods(testbed, aManifest({metadata: {labels: {app: 'web'}}}), aManifest({name: 'api'}));
  const shown = async (...args: readonly string[]): Promise<readonly string[]> => {
    const {stdout, exitCode} = await top(testbed, ['--once', ...args]);
    expect(exitCode).toBe(0);
    return stdout.match(/^default\/\w+ +\d/gm)?.map((row) => row.split(/[/ ]/)[1] ?? '') ?? [];
  };
  expect(await shown('-n', 'default')).toEqual(['api', 'web']);
  expect(await shown('-n', 'other')).toEqual([]);
  expect(await shown('-l', 'app=web')).toEqual(['web']);
});

test('reports an unknown pod', async () => {
  const testbed = await createTestbed();
  expect(await top(testbed, ['nosuch'])).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('pod "nosuch" not found') as string,
  });
  expect(await top(testbed, ['--seconds', '0'])).toMatchObject({exitCode: 1});
});
