import {describe, expect, test} from 'vitest';
import type {Pod} from '../../../src/api/types/v1-pod.js';
import {workloadsOfLabels, type WorkloadRef} from '../../../src/api/workloads/workload-of-pod.js';
import {
  computeWorkloads,
  workloadObject,
  workloadTitle,
} from '../../../src/features/workloads/compute-workloads.js';

const WEB: WorkloadRef = {kind: 'Deployment', namespace: 'default', name: 'web'};

function aPod(phase: string, createdAt: string, fields: object = {}): Pod {
  return {
    metadata: {name: 'x', creationTimestamp: createdAt},
    spec: {containers: [{name: 'main', image: 'busybox:1'}]},
    status: {phase, ...fields},
  } as unknown as Pod;
}

const READY = {conditions: [{type: 'Ready', status: 'True'}]};

test('a workload has the counts of its pods, and the age of the oldest', () => {
  const pods = [
    aPod('Running', '2026-01-02T00:00:00Z', READY),
    aPod('Running', '2026-01-01T00:00:00Z', {conditions: [{type: 'Ready', status: 'False'}]}),
    aPod('Running', '2026-01-03T00:00:00Z', {containerStatuses: [{ready: true}]}),
    aPod('Succeeded', '2026-01-04T00:00:00Z'),
    aPod('Failed', '2026-01-05T00:00:00Z'),
    aPod('Pending', '2026-01-06T00:00:00Z'),
  ];
  expect(computeWorkloads(pods.map((pod) => ({pod, owners: [WEB]})))).toEqual([
    {
      ...WEB,
      active: 4,
      ready: 2,
      succeeded: 1,
      failed: 1,
      createdAt: '2026-01-01T00:00:00Z',
      images: ['busybox:1'],
    },
  ]);
});

test.each([
  ['Deployment', 'deployment.apps/x', 'apps/v1', {replicas: 1, readyReplicas: 1}],
  ['DaemonSet', 'daemonset.apps/x', 'apps/v1', {currentNumberScheduled: 1, numberReady: 1}],
  ['Job', 'job.batch/x', 'batch/v1', {active: 1, ready: 1, succeeded: 0, failed: 0}],
  ['ReplicationController', 'replicationcontroller/x', 'v1', {replicas: 1, readyReplicas: 1}],
] as const)('a %s has the name %s', (kind, title, apiVersion, status) => {
  const owners = [{kind, namespace: 'test', name: 'x'}];
  const [summary] = computeWorkloads([{pod: aPod('Running', '2026-01-01T00:00:00Z', READY), owners}]);
  expect(workloadTitle(summary!)).toBe(title);
  expect(workloadObject(summary!)).toMatchObject({
    apiVersion,
    kind,
    metadata: {name: 'x', namespace: 'test'},
    status,
  });
});

describe('the labels that controllers give pods tell their owners', () => {
  test.each([
    [
      'web-5d78c9869d-abcde',
      {'pod-template-hash': '5d78c9869d'},
      ['ReplicaSet/web-5d78c9869d', 'Deployment/web'],
    ],
    ['web-abcde', {'pod-template-hash': '5d78c9869d'}, []],
    [
      'db-0',
      {'statefulset.kubernetes.io/pod-name': 'db-0', 'controller-revision-hash': 'db-1'},
      ['StatefulSet/db'],
    ],
    ['main-x2x2x', {'job-name': 'main'}, ['Job/main']],
    [
      'night-29000000-x2x2x',
      {'batch.kubernetes.io/job-name': 'night-29000000'},
      ['Job/night-29000000', 'CronJob/night'],
    ],
    ['proxy-x2x2x', {'controller-revision-hash': 'abc'}, ['DaemonSet/proxy']],
    ['web', {app: 'web'}, []],
  ] as const)('%s', (name, labels, owners) => {
    expect(
      workloadsOfLabels({namespace: 'default', name, labels}).map((ref) => `${ref.kind}/${ref.name}`),
    ).toEqual(owners);
  });
});
