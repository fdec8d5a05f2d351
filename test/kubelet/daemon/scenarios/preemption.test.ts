import {expect, test} from 'vitest';
import {aContainerSpec, aManifest} from '../../../commands/pod-scene.js';
import {DaemonTestbed, NOTHING_LEFT} from '../daemon-testbed.js';

const manifest = (name: string, priority: number): string =>
  aManifest({name, priority, containers: [aContainerSpec('main', {resources: {requests: {cpu: '1500m'}}})]});

test('a pod makes way for one of a higher priority, which then runs, and stays ended', async () => {
  await using ground = await DaemonTestbed.start();
  await ground.put('low.json', manifest('low', 1));
  await ground.until('the first one runs', () => ground.running.join() === 'low-goldennode/main/0');

  await ground.put('high.json', manifest('high', 2));
  await ground.until('the other one runs', () => ground.running.includes('high-goldennode/main/0'));

  expect(ground.running).toEqual(['high-goldennode/main/0']);
  const low = ground.view.pods().find(({metadata}) => metadata.name === 'low-goldennode');
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
  expect(ground.events.filter(({reason}) => reason === 'Preempting')).toHaveLength(1);
  expect(ground.foreignTouched).toEqual([]);

  await ground.remove('low.json');
  await ground.remove('high.json');
  await ground.untilNothingIsLeft();
  expect(await ground.listRemains()).toEqual(NOTHING_LEFT);
});
