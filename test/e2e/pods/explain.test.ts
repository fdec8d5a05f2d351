import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {aContainer, aManifest} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const WEB = aManifest('web', {
  terminationGracePeriodSeconds: 2,
  containers: [
    aContainer('main', {
      env: [{name: 'WORD', value: 'hello'}],
      resources: {requests: {cpu: '50m', memory: '32Mi'}, limits: {memory: '64Mi'}},
    }),
  ],
});

/** Lines that each of the commands prints about the container. */
const LINES = [
  'metadata.name: main  # ',
  'linux.resources.cpu_shares: 51  # resources.requests.cpu 50m',
  'linux.resources.memory_limit_in_bytes: 67108864  # ',
  'envs[0].value: hello  # ',
];

describe.each(newestRuntime)('where values come from: $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  const lines = ({stdout}: {readonly stdout: string}): readonly string[] =>
    stdout.split('\n').map((line) => line.trim());

  // Proves: plan --explain, describe --explain
  test('plan, describe and inspect explain the same config', async () => {
    const {runtime, logsDir, cgroupRoot} = testbed;
    const places = ['--pod-logs-dir', logsDir, '--cgroup-root', cgroupRoot];
    const planned = lines(await runtime.kcri(['plan', '-', '--explain', ...places], {input: WEB}));
    for (const line of LINES) expect(planned.filter((each) => each.includes(line))).not.toEqual([]);

    await testbed.sync(WEB);
    const described = lines(await runtime.kcri(['describe', 'web', '--explain']));
    const inspected = lines(await runtime.kcri(['inspect', '--explain', 'web/main']));
    const sandbox = lines(await runtime.kcri(['inspectp', '--explain', 'web']));
    for (const line of LINES) expect(inspected.filter((each) => each.includes(line))).toHaveLength(1);
    expect(described.join('\n')).not.toContain('# unknown');
    // The description of the pod is that of its sandbox and its container.
    expect(new Set(described)).toEqual(new Set([...sandbox, ...inspected]));
    // What was planned is what the runtime received, but for what is known only then.
    const explained = (all: readonly string[]) => all.filter((line) => line.includes('  # resources.'));
    for (const line of explained(inspected))
      expect(planned.filter((each) => each.endsWith(line))).not.toEqual([]);
    await testbed.delete('web');
  });
});
