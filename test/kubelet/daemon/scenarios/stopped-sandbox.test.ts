import {describe, expect, test} from 'vitest';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {DaemonTestbed} from '../daemon-testbed.js';

/** Maximum time of the clock between the exit that the daemon learns of and the start, in ms: no wait is part of it. */
const MAX_DELAY_MS = 100;
/** Period of relists without events, in ms. */
const RELIST_MS = 1000;

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
  test('containers that are killed before their sandbox count one restart each, in a new sandbox', async () => {
    const names = ['first', 'second', 'third'];
    await using testbed = await startPod(eventedPleg, names);
    const old = sandboxOf(testbed, 0) ?? '';
    for (const name of names) {
      testbed.kill(name);
      await testbed.clock.sleep(200);
    }
    testbed.fake.exitSandbox(old);
    await testbed.until(
      'the pod runs in a new sandbox',
      () => sandboxOf(testbed, 1) !== undefined && testbed.statusOf('web').ready === 3,
    );

    const started = testbed.ownContainers.filter(({sandboxId}) => sandboxId === sandboxOf(testbed, 1));
    expect(started.map(({config}) => [config.metadata?.name, config.metadata?.attempt])).toEqual(
      names.map((name) => [name, 1]),
    );
    expect(testbed.statusOf('web')).toMatchObject({ready: 3, restarts: 3});
    const reasons = testbed.events.map(({reason}) => reason);
    expect(reasons).toContain('SandboxChanged');
    expect(reasons).not.toContain('BackOff');
  });

  test('a killed container restarts as soon as the daemon learns of its exit', async () => {
    await using testbed = await startPod(eventedPleg, ['main', 'other']);
    const killedAt = testbed.clock.now();
    testbed.kill('main');
    await testbed.until('it runs again', () => testbed.running.includes('web-goldennode/main/1'));
    const restarted = testbed.ownContainers.find(({config}) => config.metadata?.attempt === 1);
    const delayMs = Number((restarted?.startedAt ?? 0n) / 1_000_000n) - killedAt;
    expect(delayMs).toBeLessThanOrEqual(eventedPleg ? MAX_DELAY_MS : RELIST_MS + MAX_DELAY_MS);
    expect(testbed.fake.callsTo('RunPodSandbox')).toEqual([]);
  });
});
