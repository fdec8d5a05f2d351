import {describe, expect, test} from 'vitest';
import type {Pod, PodSpec} from '../../../src/api/v1.js';
import {
  ownGracePeriod,
  remainingGrace,
  terminatingGracePeriod,
} from '../../../src/kubelet/kuberuntime/grace-period.js';
import {aContainer, aPod} from './builders.js';

const probe = (terminationGracePeriodSeconds: number) => ({
  exec: {command: ['x']},
  terminationGracePeriodSeconds,
});
const container = aContainer({livenessProbe: probe(7), startupProbe: probe(8)});

type Mutable<T> = {-readonly [Key in keyof T]: T[Key]};

/** A pod with that grace period, or with none at all, which the API's defaults don't leave. */
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
    ['two seconds when nobody says', graceful(), undefined, 2],
    ['two seconds when nobody says, whatever its probe says', graceful(), 'LivenessProbe', 2],
    ['what the deletion gives', graceful(30, 5), undefined, 5],
    ['what the deletion gives, whatever its probe says', graceful(30, 5), 'LivenessProbe', 5],
    ['its liveness probe’s when that failed', graceful(30), 'LivenessProbe', 7],
    ['its startup probe’s when that failed', graceful(30), 'StartupProbe', 8],
    ['its pod’s when it was changed', graceful(30), 'Changed', 30],
    ['its pod’s when nobody knows whether it runs', graceful(30), 'Unknown', 30],
  ] as const)('%s', (_title, pod, reason, expected) => {
    expect(ownGracePeriod(pod, container, reason)).toBe(expected);
  });

  test('its pod’s when the failed probe has none of its own, and when nobody knows the container', () => {
    const pod = graceful(30);

    expect(ownGracePeriod(pod, aContainer({livenessProbe: {exec: {command: ['x']}}}), 'LivenessProbe')).toBe(
      30,
    );
    expect(ownGracePeriod(pod, undefined, 'LivenessProbe')).toBe(30);
  });
});

test.each([
  ['as many seconds as were asked for', graceful(30, 9), 5, 5],
  ['what the deletion gives', graceful(30, 9), undefined, 9],
  ['its own grace period', graceful(30), undefined, 30],
  ['a second at least', graceful(30), 0, 1],
  ['a second of its own', graceful(0), undefined, 1],
  ['a second when nobody says', graceful(), undefined, 1],
] as const)('a pod that is ended has %s', (_title, pod, requested, expected) => {
  expect(terminatingGracePeriod(pod, requested)).toBe(expected);
});

test.each([
  [30, 12_700, 18],
  [30, 999, 30],
  [30, 1000, 29],
  [5, 5000, 0],
  [5, 60_000, 0],
  // The machine's clock was set back.
  [5, -3000, 5],
])('%i s are after %i ms %i s', (seconds, elapsed, expected) => {
  expect(remainingGrace(seconds, elapsed)).toBe(expected);
});
