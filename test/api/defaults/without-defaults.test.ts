import {expect, test} from 'vitest';
import {applyPodDefaults} from '../../../src/api/defaults/pod-defaults.js';
import {withoutDefaults} from '../../../src/api/defaults/without-defaults.js';
import type {Pod} from '../../../src/api/types/v1-pod.js';

test('a Pod with all defaults is as it was written', () => {
  const written: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name: 'web'},
    spec: {
      containers: [
        {name: 'a', image: 'nginx', resources: {limits: {cpu: '1'}}, ports: [{containerPort: 80}]},
        {name: 'b', image: 'nginx:1', imagePullPolicy: 'Always', readinessProbe: {periodSeconds: 7}},
      ],
      volumes: [{name: 'v', emptyDir: {}}],
      terminationGracePeriodSeconds: 5,
    },
  };
  expect(withoutDefaults(applyPodDefaults(written))).toEqual(written);
});

test('fields that are no defaults, and fields without which there are none, remain', () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name: 'p', namespace: 'a'},
    spec: {containers: []},
  } as Pod;
  expect(withoutDefaults(pod)).toEqual(pod);
});
