import {expect, test} from 'vitest';
import type {PodCondition} from '../../../../src/api/types/v1-status.js';
import type {Workload} from '../../../../src/api/types/v1-workloads.js';
import {availableAtMs, minReadyMsOf} from '../../../../src/kubelet/managers/workloads/pod-availability.js';

const READY: PodCondition = {type: 'Ready', status: 'True', lastTransitionTime: '2026-05-01T12:00:00Z'};
const READY_AT_MS = Date.parse('2026-05-01T12:00:00Z');

test.each<[string, readonly PodCondition[], number | undefined]>([
  ['ready', [READY], READY_AT_MS + 3000],
  ['not ready', [{...READY, status: 'False'}], undefined],
  ['without a time', [{type: 'Ready', status: 'True'}], undefined],
  ['without conditions', [], undefined],
])('a pod that is %s', (_title, conditions, expected) => {
  expect(availableAtMs({conditions}, 3000)).toBe(expected);
});

test.each([
  [undefined, 2000],
  [1, 2000],
  [30, 30_000],
])('minReadySeconds %s means %i ms', (minReadySeconds, expected) => {
  const spec = {minReadySeconds, template: {spec: {containers: []}}};
  const workload = {apiVersion: 'apps/v1', kind: 'Deployment', metadata: {name: 'web'}, spec};
  expect(minReadyMsOf(workload as Workload)).toBe(expected);
});
