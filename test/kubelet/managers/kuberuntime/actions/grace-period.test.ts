import {describe, expect, test} from 'vitest';
import type {Pod, PodSpec} from '../../../../../src/api/types/v1-pod.js';
import {
  containerGracePeriodSeconds,
  remainingGracePeriodSeconds,
  effectiveGracePeriodSeconds,
} from '../../../../../src/kubelet/managers/kuberuntime/actions/grace-period.js';
import {aContainer, aPod} from '../../../pod-builders.js';

const probe = (terminationGracePeriodSeconds: number) => ({
  exec: {command: ['x']},
  terminationGracePeriodSeconds,
});
const container = aContainer({livenessProbe: probe(7), startupProbe: probe(8)});

type Mutable<T> = {-readonly [Key in keyof T]: T[Key]};

/** Creates a pod with that grace period, or without any, unlike the API defaults. */
function graceful(seconds?: number, deletion?: number): Pod {
  const pod = aPod({}, deletion === undefined ? {} : {deletionGracePeriodSeconds: deletion});
  const spec: Mutable<PodSpec> = {...pod.spec};
  delete spec.terminationGracePeriodSeconds;
  return {...pod, spec: seconds === undefined ? spec : {...spec, terminationGracePeriodSeconds: seconds}};
}

describe('a container has', () => {
  test.each([
    ['its pod’s grace period', graceful(30), undefined, 30],
    ['none when its pod has none', graceful(0), undefined, 0],
    ['two seconds by default', graceful(), undefined, 2],
    ['two seconds by default, regardless of its probe', graceful(), 'LivenessProbe', 2],
    ['that of the deletion', graceful(30, 5), undefined, 5],
    ['that of the deletion, regardless of its probe', graceful(30, 5), 'LivenessProbe', 5],
    ['its liveness probe’s when that failed', graceful(30), 'LivenessProbe', 7],
    ['its startup probe’s when that failed', graceful(30), 'StartupProbe', 8],
    ['its pod’s when it was changed', graceful(30), 'Changed', 30],
    ['its pod’s in an unknown state', graceful(30), 'Unknown', 30],
  ] as const)('%s', (_title, pod, reason, expected) => {
    expect(containerGracePeriodSeconds(pod, container, reason)).toBe(expected);
  });

  test('its pod’s if the failed probe has none or the container is unknown', () => {
    const pod = graceful(30);

    expect(
      containerGracePeriodSeconds(
        pod,
        aContainer({livenessProbe: {exec: {command: ['x']}}}),
        'LivenessProbe',
      ),
    ).toBe(30);
    expect(containerGracePeriodSeconds(pod, undefined, 'LivenessProbe')).toBe(30);
  });
});

test.each([
  ['the requested seconds', graceful(30, 9), 5, 5],
  ['that of the deletion', graceful(30, 9), undefined, 9],
  ['its own grace period', graceful(30), undefined, 30],
  ['at least a second', graceful(30), 0, 1],
  ['at least a second if its own is 0', graceful(0), undefined, 1],
  ['a second by default', graceful(), undefined, 1],
] as const)('a pod that is terminated has %s', (_title, pod, requested, expected) => {
  expect(effectiveGracePeriodSeconds(pod, requested)).toBe(expected);
});

test.each([
  [30, 12_700, 18],
  [30, 999, 30],
  [30, 1000, 29],
  [5, 5000, 0],
  [5, 60_000, 0],
  // The machine's clock was set back.
  [5, -3000, 5],
])('of %i s after %i ms, %i s remain', (seconds, elapsed, expected) => {
  expect(remainingGracePeriodSeconds(seconds, elapsed)).toBe(expected);
});
