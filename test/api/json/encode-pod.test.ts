import {expect, test} from 'vitest';
import {encodePod, encodePodStatus} from '../../../src/api/json/encode-pod.js';
import type {ContainerStatus} from '../../../src/api/types/v1-status.js';

const STATUS: ContainerStatus = {name: 'c', ready: false, restartCount: 0, image: 'i', imageID: ''};

test('unset times of a condition are null', () => {
  const conditions = [
    {type: 'Ready', status: 'True'},
    {
      type: 'Other',
      status: 'True',
      lastProbeTime: '2026-01-01T00:00:00Z',
      lastTransitionTime: '2026-01-01T00:00:01Z',
    },
  ] as const;
  expect(encodePodStatus({conditions})).toEqual({
    conditions: [
      {type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null},
      conditions[1],
    ],
  });
});

test('unset times of container states are null', () => {
  const state = {terminated: {exitCode: 137, reason: 'ContainerStatusUnknown'}};
  const lastState = {running: {}};
  expect(
    encodePodStatus({
      containerStatuses: [{...STATUS, state, lastState}],
      initContainerStatuses: [{...STATUS, state: {waiting: {reason: 'PodInitializing'}}}],
      ephemeralContainerStatuses: [STATUS],
    }),
  ).toEqual({
    containerStatuses: [
      {
        ...STATUS,
        state: {terminated: {...state.terminated, startedAt: null, finishedAt: null}},
        lastState: {running: {startedAt: null}},
      },
    ],
    initContainerStatuses: [{...STATUS, state: {waiting: {reason: 'PodInitializing'}}, lastState: {}}],
    ephemeralContainerStatuses: [{...STATUS, state: {}, lastState: {}}],
  });
});

test('a Pod always has a status, and the rest of it does not change', () => {
  const pod = {apiVersion: 'v1', kind: 'Pod', metadata: {name: 'p'}, spec: {containers: []}} as const;
  expect(encodePod(pod)).toEqual({...pod, status: {}});
});
