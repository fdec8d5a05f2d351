import {describe, expect, test} from 'vitest';
import type {Pod, PodSpec} from '../../../../src/api/types/v1-pod.js';
import {selectPreemptionVictims} from '../../../../src/kubelet/pods/preemption/preemption-victims.js';
import {aContainer, aPod} from '../../pod-builders.js';

const MI = 1024n * 1024n;
const CRITICAL = 2_000_000_000;

const pod = (name: string, resources: Record<string, unknown>, spec: Partial<PodSpec> = {}): Pod =>
  aPod({containers: [aContainer({resources})], ...spec}, {name, uid: name});
const asking = (name: string, memory: string, cpu: string, spec: Partial<PodSpec> = {}): Pod =>
  pod(name, {requests: {memory, cpu}}, spec);
const guaranteed = (name: string, memory: string, cpu: string): Pod =>
  pod(name, {requests: {memory, cpu}, limits: {memory, cpu}});
const aStatic = (made: Pod): Pod => ({
  ...made,
  metadata: {...made.metadata, annotations: {'kubernetes.io/config.source': 'file'}},
});

/** The names of those that go when so much memory, in MiB, and so many milli-CPUs are missing. */
function victims(
  missing: {memory?: bigint; cpu?: bigint; pods?: bigint},
  others: readonly Pod[],
  by = aPod({priority: CRITICAL}),
) {
  const short = Object.entries(missing).map(([resource, amount]) => ({
    resource,
    requested: resource === 'memory' ? amount * MI : amount,
    used: 0n,
    capacity: 0n,
  }));
  const found = selectPreemptionVictims(by, others, short);
  return found.kind === 'possible' ? found.victims.map(({metadata}) => metadata.name) : found.missing;
}

// The pods of the kubelet's own tests (preemption_test.go).
const bestEffort = pod('best-effort', {});
const burstable = asking('burstable', '100Mi', '100m');
const highBurstable = asking('high-burstable', '300Mi', '300m');
const sure = guaranteed('guaranteed', '100Mi', '100m');
const highSure = guaranteed('high-guaranteed', '300Mi', '300m');
const all = [bestEffort, burstable, highBurstable, sure, highSure];

describe('who goes for a critical pod:', () => {
  test.each([
    ['nobody when nothing is missing', {}, []],
    ['any pod when only places are missing, the least important first', {pods: 1n}, ['best-effort']],
    ['a burstable pod before a guaranteed one', {memory: 100n}, ['burstable']],
    ['one large pod rather than two', {memory: 200n}, ['high-burstable']],
    ['as few as possible of each class', {memory: 350n}, ['burstable', 'high-burstable']],
    [
      'guaranteed ones only for what the others can’t give',
      {memory: 450n},
      ['burstable', 'high-burstable', 'guaranteed'],
    ],
  ] as const)('%s', (_, missing, expected) => {
    expect(victims(missing, all).toSorted()).toEqual([...expected].toSorted());
  });

  test('the least important are ended first', () => {
    expect(victims({memory: 450n, pods: 4n}, all)).toEqual([
      'best-effort',
      'high-burstable',
      'burstable',
      'guaranteed',
    ]);
  });

  test('of two that are equally near, the one with less memory', () => {
    const small = asking('small', '100Mi', '500m');
    const large = asking('large', '200Mi', '500m');
    expect(victims({cpu: 500n}, [large, small])).toEqual(['small']);
    expect(victims({cpu: 500n}, [small, large])).toEqual(['small']);
  });

  test('nobody when all together are not enough, and what would be missing is told', () => {
    expect(victims({memory: 900n}, all)).toEqual([{resource: 'memory', quantity: 100n * MI}]);
  });
});

describe('who may be ended:', () => {
  const other = asking('other', '100Mi', '100m');

  test.each<[string, Pod, Pod, boolean]>([
    [
      'no critical pod for one without a priority, as static pods are among themselves',
      aStatic(aPod()),
      aStatic(other),
      false,
    ],
    [
      'a static pod for one of a higher priority',
      aStatic(aPod({priority: 2})),
      aStatic(asking('other', '100Mi', '100m', {priority: 1})),
      true,
    ],
    [
      'not one of the same priority',
      aPod({priority: CRITICAL}),
      asking('other', '100Mi', '100m', {priority: CRITICAL}),
      false,
    ],
    ['any other pod for a static one', aStatic(aPod()), other, true],
  ])('%s', (_, by, victim, expected) => {
    expect(victims({memory: 50n}, [victim], by)).toEqual(
      expected ? ['other'] : [{resource: 'memory', quantity: 50n * MI}],
    );
  });
});
