import {describe, expect, test} from 'vitest';
import type {Pod, PodSpec} from '../../../../../src/api/types/v1-pod.js';
import {
  containerGracePeriodSeconds,
  remainingGracePeriodSeconds,
  effectiveGracePeriodSeconds,
} from '../../../../../src/kubelet/managers/kuberuntime/actions/grace-period.js';
import {aContainer, aPod} from '../../../../fakes/a-pod.js';

const probe = (terminationGracePeriodSeconds: number) => ({
  exec: {command: ['x']},
  terminationGracePeriodSeconds,
});
const container = aContainer({livenessProbe: probe(7), startupProbe: probe(8)});

type Mutable<T> = {-readonly [Key in keyof T]: T[Key]};

/** Creates a pod with this grace period, or without any, unlike the API defaults. */
function aPodWithGracePeriod(seconds?: number, deletion?: number): Pod {
  const pod = aPod({}, deletion === undefined ? {} : {deletionGracePeriodSeconds: deletion});
  const spec: Mutable<PodSpec> = {...pod.spec};
  delete spec.terminationGracePeriodSeconds;
  return {...pod, spec: seconds === undefined ? spec : {...spec, terminationGracePeriodSeconds: seconds}};
}

describe('the grace period of a container is', () => {
  // Proves: Probe.terminationGracePeriodSeconds
  test.each([
    ['terminationGracePeriodSeconds of its pod', aPodWithGracePeriod(30), undefined, 30],
    ['0 when its pod has 0', aPodWithGracePeriod(0), undefined, 0],
    ['two seconds by default', aPodWithGracePeriod(), undefined, 2],
    ['two seconds by default, regardless of its probe', aPodWithGracePeriod(), 'LivenessProbe', 2],
    ['deletionGracePeriodSeconds of its pod', aPodWithGracePeriod(30, 5), undefined, 5],
    [
      'deletionGracePeriodSeconds of its pod, regardless of its probe',
      aPodWithGracePeriod(30, 5),
      'LivenessProbe',
      5,
    ],
    ['that of its liveness probe when the probe failed', aPodWithGracePeriod(30), 'LivenessProbe', 7],
    ['that of its startup probe when the probe failed', aPodWithGracePeriod(30), 'StartupProbe', 8],
    ['that of its pod when its definition changed', aPodWithGracePeriod(30), 'Changed', 30],
    ['that of its pod in an unknown state', aPodWithGracePeriod(30), 'Unknown', 30],
  ] as const)('%s', (_title, pod, reason, expected) => {
    expect(containerGracePeriodSeconds(pod, container, reason)).toBe(expected);
  });

  test('that of its pod if the failed probe has none or the container is unknown', () => {
    const pod = aPodWithGracePeriod(30);

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
  ['the requested time', aPodWithGracePeriod(30, 9), 5, 5],
  ['deletionGracePeriodSeconds', aPodWithGracePeriod(30, 9), undefined, 9],
  ['terminationGracePeriodSeconds', aPodWithGracePeriod(30), undefined, 30],
  ['at least 1 s', aPodWithGracePeriod(30), 0, 1],
  ['at least 1 s if terminationGracePeriodSeconds is 0', aPodWithGracePeriod(0), undefined, 1],
  ['1 s by default', aPodWithGracePeriod(), undefined, 1],
] as const)('the grace period of a terminated pod is %s', (_title, pod, requested, expected) => {
  expect(effectiveGracePeriodSeconds(pod, requested)).toBe(expected);
});

test.each([
  [30, 12_700, 18],
  [30, 999, 30],
  [30, 1000, 29],
  [5, 5000, 0],
  [5, 60_000, 0],
  // The clock of the machine was set back.
  [5, -3000, 5],
])('of a grace period of %i s after %i ms, %i s remain', (seconds, elapsed, expected) => {
  expect(remainingGracePeriodSeconds(seconds, elapsed)).toBe(expected);
});
