import {describe, expect, test} from 'vitest';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {DaemonTestbed} from '../daemon-testbed.js';

/** Starts a daemon with a pod of these containers that runs. */
async function startPod(eventedPleg: boolean, names: readonly string[]): Promise<DaemonTestbed> {
  const testbed = await DaemonTestbed.start({eventedPleg});
  const containers = names.map((name) => aContainerSpec(name));
  await testbed.put('web.json', aManifest({name: 'web', containers}));
  await testbed.until('the pod runs', () => testbed.statusOf('web').ready === names.length);
  testbed.fake.clearCalls();
  return testbed;
}

/** Sandbox of the pod with this attempt. */
const sandboxOf = ({fake}: DaemonTestbed, attempt: number): string | undefined =>
  fake.sandboxes.find(
    ({config: {metadata}}) => metadata?.name === 'web-goldennode' && metadata.attempt === attempt,
  )?.id;

describe.each([
  ['events', true],
  ['relists', false],
])('with a PLEG of %s', (_, eventedPleg) => {
  test('containers that are killed before their sandbox start once, in a new sandbox', async () => {
    const names = ['first', 'second', 'third'];
    await using testbed = await startPod(eventedPleg, names);
    const old = sandboxOf(testbed, 0) ?? '';
    for (const name of names) {
      testbed.kill(name);
      await testbed.clock.sleep(400);
    }
    testbed.fake.exitSandbox(old);
    await testbed.until('the pod runs in a new sandbox', () => testbed.statusOf('web').ready === 3);

    expect(testbed.fake.callsTo('CreateContainer').map(({request}) => request['pod_sandbox_id'])).toEqual(
      names.map(() => sandboxOf(testbed, 1)),
    );
    expect(testbed.statusOf('web')).toMatchObject({ready: 3, restarts: 3});
    const reasons = testbed.events.map(({reason}) => reason);
    expect(reasons).toContain('SandboxChanged');
    expect(reasons).not.toContain('BackOff');
  });

  test('a killed container restarts once its sandbox has stayed ready for a second', async () => {
    await using testbed = await startPod(eventedPleg, ['main', 'other']);
    const killedAt = testbed.clock.now();
    testbed.kill('main');
    await testbed.until('it runs again', () => testbed.running.includes('web-goldennode/main/1'));
    const restarted = testbed.ownContainers.find(({config}) => config.metadata?.attempt === 1);
    expect(Number((restarted?.createdAt ?? 0n) / 1_000_000n) - killedAt).toBeGreaterThanOrEqual(1000);
    expect(testbed.fake.callsTo('RunPodSandbox')).toEqual([]);
  });
});
