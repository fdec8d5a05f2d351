import {expect, test} from 'vitest';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {DaemonTestbed, NOTHING_REMAINS} from '../daemon-testbed.js';

const manifest = (name: string, priority: number): string =>
  aManifest({name, priority, containers: [aContainerSpec('main', {resources: {requests: {cpu: '1500m'}}})]});

test('a pod is preempted by a pod with a higher priority and is not restarted', async () => {
  await using testbed = await DaemonTestbed.start();
  await testbed.put('low.json', manifest('low', 1));
  await testbed.until('the first one runs', () => testbed.running.join() === 'low-goldennode/main/0');

  await testbed.put('high.json', manifest('high', 2));
  await testbed.until('the other one runs', () => testbed.running.includes('high-goldennode/main/0'));

  expect(testbed.running).toEqual(['high-goldennode/main/0']);
  const low = testbed.view.pods().find(({metadata}) => metadata.name === 'low-goldennode');
  expect(low?.status).toMatchObject({
    phase: 'Failed',
    reason: 'Preempting',
    message: 'Preempted in order to admit critical pod',
  });
  expect(low?.status?.conditions).toContainEqual({
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'TerminationByKubelet',
    message: 'Pod was preempted by Kubelet to accommodate a critical pod.',
    lastTransitionTime: expect.any(String) as unknown,
  });
  expect(testbed.events.filter(({reason}) => reason === 'Preempting')).toHaveLength(1);
  expect(testbed.callsToForeignPod).toEqual([]);

  await testbed.remove('low.json');
  await testbed.remove('high.json');
  await testbed.untilAllRemoved();
  expect(await testbed.listRemains()).toEqual(NOTHING_REMAINS);
});
