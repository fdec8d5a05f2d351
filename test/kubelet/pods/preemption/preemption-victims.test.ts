import {describe, expect, test} from 'vitest';
import type {Pod, PodSpec} from '../../../../src/api/types/v1-pod.js';
import {selectPreemptionVictims} from '../../../../src/kubelet/pods/preemption/preemption-victims.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';

const MI = 1024n * 1024n;
const CRITICAL = 2_000_000_000;

const pod = (name: string, resources: Record<string, unknown>, spec: Partial<PodSpec> = {}): Pod =>
  aPod({containers: [aContainer({resources})], ...spec}, {name, uid: name});
const requesting = (name: string, memory: string, cpu: string, spec: Partial<PodSpec> = {}): Pod =>
  pod(name, {requests: {memory, cpu}}, spec);
const guaranteed = (name: string, memory: string, cpu: string): Pod =>
  pod(name, {requests: {memory, cpu}, limits: {memory, cpu}});
const aStatic = (made: Pod): Pod => ({
  ...made,
  metadata: {...made.metadata, annotations: {'kubernetes.io/config.source': 'file'}},
});

/**
 * Returns the names of the pods preempted when this much is missing, with memory in MiB and CPU in
 * millicores.
 */
function victims(
  missing: {memory?: bigint; cpu?: bigint; pods?: bigint},
  others: readonly Pod[],
  by = aPod({priority: CRITICAL}),
) {
  const insufficient = Object.entries(missing).map(([resource, amount]) => ({
    resource,
    requested: resource === 'memory' ? amount * MI : amount,
    used: 0n,
    capacity: 0n,
  }));
  const found = selectPreemptionVictims(by, others, insufficient);
  return found.kind === 'possible' ? found.victims.map(({metadata}) => metadata.name) : found.missing;
}

// The pods of the kubelet's own tests (preemption_test.go).
const bestEffort = pod('best-effort', {});
const burstable = requesting('burstable', '100Mi', '100m');
const highBurstable = requesting('high-burstable', '300Mi', '300m');
const guaranteedPod = guaranteed('guaranteed', '100Mi', '100m');
const highGuaranteed = guaranteed('high-guaranteed', '300Mi', '300m');
const all = [bestEffort, burstable, highBurstable, guaranteedPod, highGuaranteed];

describe('the victims for a critical pod', () => {
  // Proves: PodSpec.priority
  test.each([
    ['are none when nothing is missing', {}, []],
    ['are the least important pods when only pod slots are missing', {pods: 1n}, ['best-effort']],
    ['are burstable before guaranteed pods', {memory: 100n}, ['burstable']],
    ['are one large pod rather than two', {memory: 200n}, ['high-burstable']],
    ['are as few as possible of each QoS class', {memory: 350n}, ['burstable', 'high-burstable']],
    [
      'are guaranteed pods only for what other pods cannot free',
      {memory: 450n},
      ['burstable', 'high-burstable', 'guaranteed'],
    ],
  ] as const)('%s', (_, missing, expected) => {
    expect(victims(missing, all).toSorted()).toEqual([...expected].toSorted());
  });

  test('are listed with the least important first', () => {
    expect(victims({memory: 450n, pods: 4n}, all)).toEqual([
      'best-effort',
      'high-burstable',
      'burstable',
      'guaranteed',
    ]);
  });

  test('are the pod with less memory when two are equally close to the requested amount', () => {
    const small = requesting('small', '100Mi', '500m');
    const large = requesting('large', '200Mi', '500m');
    expect(victims({cpu: 500n}, [large, small])).toEqual(['small']);
    expect(victims({cpu: 500n}, [small, large])).toEqual(['small']);
  });

  test('are none when all pods together are not enough, and the missing amount is reported', () => {
    expect(victims({memory: 900n}, all)).toEqual([{resource: 'memory', quantity: 100n * MI}]);
  });
});

describe('a pod can be preempted', () => {
  const other = requesting('other', '100Mi', '100m');

  test.each<[string, Pod, Pod, boolean]>([
    [
      'not if it is critical and the new pod has no priority, as among static pods',
      aStatic(aPod()),
      aStatic(other),
      false,
    ],
    [
      'if it is static and the new pod has a higher priority',
      aStatic(aPod({priority: 2})),
      aStatic(requesting('other', '100Mi', '100m', {priority: 1})),
      true,
    ],
    [
      'not if it has the same priority',
      aPod({priority: CRITICAL}),
      requesting('other', '100Mi', '100m', {priority: CRITICAL}),
      false,
    ],
    ['if it is not static and the new pod is', aStatic(aPod()), other, true],
  ])('%s', (_, by, victim, expected) => {
    expect(victims({memory: 50n}, [victim], by)).toEqual(
      expected ? ['other'] : [{resource: 'memory', quantity: 50n * MI}],
    );
  });
});
