import {expect, test} from 'vitest';
import {topEventLines} from '../../../src/cli/output/views/top-table.js';
import {runKcri} from '../../cli/run-kcri.js';
import {aManifest, aScene, type PodScene} from '../pod-scene.js';
import {FAST_CLOCK} from '../interrupt-watch.js';

async function synced(scene: PodScene, ...manifests: readonly string[]): Promise<void> {
  const {exitCode, stderr} = await scene.run(['sync', '-'], {stdin: manifests.join('\n---\n')});
  expect({exitCode, stderr}).toMatchObject({exitCode: 0});
}

async function top(scene: PodScene, args: readonly string[] = []) {
  return await runKcri(['--root-dir', scene.rootDir, 'top', ...args], {clock: FAST_CLOCK});
}

test('in a pipe pods, their containers and events are shown once, and nothing is changed', async () => {
  const scene = await aScene();
  await synced(scene, aManifest(), aManifest({name: 'api'}));
  scene.runtime.clearCalls();
  const {stdout, stderr, exitCode} = await top(scene);
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  expect(stdout).toMatch(/^POD +READY +STATE +RESTARTS +CPU % +MEM +AGE +PROBES\n/);
  expect(stdout).toMatch(/^default\/api +1\/1 +Running +0 +\S+ +\S+ +\d+s\s*\n {2}main +yes +Running +0 /m);
  expect(stdout).toMatch(/^default\/web +1\/1 +Running /m);
  expect(stdout).toMatch(/^\d+s +default\/web {2}Normal {2}Started {2}Container started$/m);
  expect(scene.mutatingCalls).toEqual([]);
});

test('an event’s message ends without the line breaks that a probe left there', () => {
  const event = {
    type: 'Warning',
    reason: 'Unhealthy',
    message: 'Readiness probe failed: no\n',
    count: 3,
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
    namespace: 'default',
    pod: 'web',
  } as const;
  const [line] = topEventLines([event], Date.parse('2026-01-01T00:00:05Z'));
  expect(line).toMatch(/Readiness probe failed: no \(x3\)$/);
});

test('-o json has pods, containers, what they use, and events', async () => {
  const scene = await aScene();
  await synced(scene, aManifest(), aManifest({name: 'api'}));
  const {stdout} = await top(scene, ['web', '-o', 'json']);
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

test('a pod whose runtime can not be asked is shown as it was last, without numbers', async () => {
  const scene = await aScene();
  await synced(scene, aManifest());
  await scene.runtime.stop();
  const {stdout, stderr} = await top(scene);
  expect(stdout).toMatch(/^default\/web +1\/1 +Running +0 +- +- /m);
  expect(stderr).toContain('is unavailable');
});

test('only pods of a namespace and with labels are shown', async () => {
  const scene = await aScene();
  await synced(scene, aManifest({metadata: {labels: {app: 'web'}}}), aManifest({name: 'api'}));
  const shown = async (...args: readonly string[]): Promise<readonly string[]> => {
    const {stdout, exitCode} = await top(scene, ['--once', ...args]);
    expect(exitCode).toBe(0);
    return stdout.match(/^default\/\w+ +\d/gm)?.map((row) => row.split(/[/ ]/)[1] ?? '') ?? [];
  };
  expect(await shown('-n', 'default')).toEqual(['api', 'web']);
  expect(await shown('-n', 'other')).toEqual([]);
  expect(await shown('-l', 'app=web')).toEqual(['web']);
});

test('a pod that is not there is an error', async () => {
  const scene = await aScene();
  expect(await top(scene, ['nosuch'])).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('pod "nosuch" not found') as string,
  });
  expect(await top(scene, ['--seconds', '0'])).toMatchObject({exitCode: 1});
});
