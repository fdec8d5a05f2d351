import {expect, test} from 'vitest';
import type {Pod} from '../../../src/api/types/v1-pod.js';
import type {ContainerStatus} from '../../../src/api/types/v1-status.js';
import {
  checkWorkloadCondition,
  judgeWorkload,
  type SeenWorkload,
} from '../../../src/features/wait/judge-workload.js';

/** Creates a pod that ended at a minute. */
function ended(phase: 'Succeeded' | 'Failed', minute: number): Pod {
  const finishedAt = new Date(minute * 60_000).toISOString();
  const containerStatuses = [
    {name: 'main', state: {terminated: {exitCode: 0, finishedAt}}},
  ] as unknown as readonly ContainerStatus[];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {},
    spec: {containers: []},
    status: {phase, containerStatuses},
  };
}

const job = (fields: Partial<SeenWorkload>): SeenWorkload => ({
  ...{active: 0, ready: 0, pods: [], isRun: false},
  ...fields,
});

test.each<[string, string, SeenWorkload | undefined, string]>([
  ['Available', 'True', {...job({}), active: 2, ready: 2}, 'met'],
  ['available', 'true', {...job({}), active: 2, ready: 1}, '1 of 2 pods ready'],
  ['Available', 'True', job({}), '0 of 0 pods ready'],
  ['Available', 'False', {...job({}), active: 2, ready: 1}, 'met'],
  ['Available', 'True', undefined, 'it has no pods any more'],
  ['Complete', 'True', job({pods: [ended('Succeeded', 1)]}), 'met'],
  ['Complete', 'True', job({pods: [ended('Succeeded', 2), ended('Failed', 1)]}), 'met'],
  ['Complete', 'True', job({pods: [ended('Failed', 2), ended('Succeeded', 1)]}), 'it has failed'],
  ['Failed', 'True', job({pods: [ended('Failed', 2), ended('Succeeded', 1)]}), 'met'],
  ['Failed', 'True', job({pods: [ended('Succeeded', 1)]}), 'it is complete'],
  ['Complete', 'True', job({pods: [ended('Succeeded', 1)], isRun: true}), '0 of its pods active, 1 ended'],
  ['Complete', 'False', job({pods: [ended('Succeeded', 1)], isRun: true}), 'met'],
  ['Complete', 'True', job({pods: [ended('Succeeded', 1)], active: 1}), '1 of its pods active, 0 ended'],
  ['Complete', 'True', job({pods: [ended('Failed', 1)], result: 'complete'}), 'met'],
  ['Failed', 'True', job({pods: [ended('Failed', 1)], result: 'failed'}), 'met'],
])('%s=%s of %j: %s', (type, value, seen, expected) => {
  const judgement = judgeWorkload(seen, {type, value});
  const text = judgement.kind === 'met' ? 'met' : 'state' in judgement ? judgement.state : judgement.reason;
  expect(text).toBe(expected);
});

test('a condition of another kind is an error', () => {
  expect(() => {
    checkWorkloadCondition('StatefulSet', {type: 'Available'});
  }).toThrow('a StatefulSet has no condition "Available"');
  checkWorkloadCondition('Job', {type: 'complete'});
});
