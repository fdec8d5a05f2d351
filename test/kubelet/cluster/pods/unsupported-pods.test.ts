import {expect, test} from 'vitest';
import type {PodSpec} from '../../../../src/api/types/v1-pod.js';
import {ClusterTestbed} from '../cluster-testbed.js';

// A kubelet fails none of them: it waits for a driver or plugin.
test.each<[string, Partial<PodSpec>]>([
  ['spec.volumes[0].flocker', {volumes: [{name: 'data', flocker: {datasetName: 'data'}}]}],
  [
    'spec.volumes[0].projected.sources[0].clusterTrustBundle',
    {volumes: [{name: 'ca', projected: {sources: [{clusterTrustBundle: {path: 'ca', name: 'ca'}}]}}]},
  ],
])(
  'a pod with %s stays pending, with an event and a condition about it, and is retried',
  async (field, spec) => {
    await using testbed = await ClusterTestbed.start();
    const {api, daemon} = testbed;
    testbed.createPod('data', spec);
    const warnings = () => daemon.events.filter(({reason}) => reason === 'PodFeatureUnsupported');
    await daemon.until('the event is recorded', () => warnings().length > 0);
    await daemon.until('the condition is sent', () =>
      (testbed.status('data').conditions ?? []).some(({message = ''}) => message.includes(field)),
    );

    expect(warnings()[0]).toMatchObject({type: 'Warning', message: expect.stringContaining(field) as string});
    expect(testbed.status('data')).toMatchObject({
      phase: 'Pending',
      conditions: expect.arrayContaining([
        expect.objectContaining({
          ...{type: 'PodReadyToStartContainers', status: 'False', reason: 'PodFeatureUnsupported'},
          message: expect.stringContaining(field) as string,
        }),
      ]) as unknown,
    });
    await daemon.until('it is retried', () => warnings().length > 1);
    expect(daemon.ownContainers).toEqual([]);
    api.deletePod('data');
    await testbed.untilDeleted('data');
  },
);
