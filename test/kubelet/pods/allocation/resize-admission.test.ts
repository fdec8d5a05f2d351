import {describe, expect, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import type {ResourceRequirements} from '../../../../src/api/types/v1-meta.js';
import {AllocationManager} from '../../../../src/kubelet/pods/allocation/allocation-manager.js';
import {canResizePod} from '../../../../src/kubelet/pods/allocation/resize-admission.js';
import {allocationOf} from '../../../../src/kubelet/resources/pod-allocation.js';
import type {NodeFacts} from '../../../../src/kubelet/contract/node-facts.js';
import {podRef} from '../../../../src/kubelet/contract/pod-ref.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';

const MI = 1024n * 1024n;
/** A node with two CPUs, and with 1000Mi above the eviction threshold. */
const NODE = {...GOLDEN_NODE, cpuMilli: 2000n, memoryBytes: 1100n * MI};

const BURSTABLE = {requests: {cpu: '100m', memory: '64Mi'}, limits: {cpu: '200m', memory: '128Mi'}};

function aPodWith(resources: ResourceRequirements, name = 'web', priority?: number): Pod {
  return aPod(
    {containers: [aContainer({resources})], ...(priority !== undefined && {priority})},
    {uid: `uid-${name}`, name, namespace: 'default'},
  );
}

function describeResize(
  wanted: ResourceRequirements,
  others: readonly Pod[] = [],
  before = BURSTABLE,
): string {
  const result = canResizePod({
    pod: aPodWith(wanted),
    allocation: allocationOf(aPodWith(before)),
    others,
    node: NODE,
    admission: true,
  });
  return result.kind === 'pending' ? `${result.pending.reason}: ${result.pending.message}` : result.kind;
}

describe('a resize', () => {
  test.each<[string, ResourceRequirements, string]>([
    [
      'to the same quantities in another notation is no change',
      {requests: {cpu: '0.1', memory: '65536Ki'}, limits: BURSTABLE.limits},
      'none',
    ],
    [
      'to more resources fits',
      {requests: {cpu: '1', memory: '1000Mi'}, limits: {cpu: '1', memory: '1001Mi'}},
      'fits',
    ],
    [
      'to fewer resources fits',
      {requests: {cpu: '1m', memory: '1Mi'}, limits: {cpu: '1m', memory: '2Mi'}},
      'fits',
    ],
    [
      'to more memory than the node has is infeasible; memory is reported before CPU',
      {requests: {cpu: '3', memory: '1001Mi'}, limits: {cpu: '3', memory: '2Gi'}},
      "Infeasible: Node didn't have enough capacity: memory, requested: 1049624576, capacity: 1048576000",
    ],
    [
      'to more CPU than the node has is infeasible',
      {requests: {cpu: '2001m', memory: '64Mi'}, limits: {cpu: '3', memory: '128Mi'}},
      "Infeasible: Node didn't have enough capacity: cpu, requested: 2001, capacity: 2000",
    ],
    [
      'to another QoS class is infeasible',
      {requests: BURSTABLE.limits, limits: BURSTABLE.limits},
      'Infeasible: Pod QOS Class may not change as a result of resizing',
    ],
    [
      'that removes a limit is infeasible',
      {requests: BURSTABLE.requests, limits: {cpu: '200m'}},
      'Infeasible: resource limits cannot be removed',
    ],
    [
      'that removes a request fits, because the request defaults to the limit',
      {requests: {cpu: '100m'}, limits: {cpu: '200m', memory: '128Mi'}},
      // The API's defaults set the request to the limit.
      'fits',
    ],
    [
      'of a resource other than CPU and memory is infeasible',
      {...BURSTABLE, requests: {...BURSTABLE.requests, 'ephemeral-storage': '1Gi'}},
      'Infeasible: only cpu and memory resources are mutable',
    ],
  ])('%s', (_, wanted, expected) => {
    expect(describeResize(wanted)).toBe(expected);
  });

  test('that removes a request is infeasible', () => {
    const before = {requests: {cpu: '100m', memory: '64Mi'}};
    expect(describeResize({requests: {cpu: '100m'}}, [], before as never)).toBe(
      'Infeasible: resource requests cannot be removed',
    );
  });

  test('that fits on the node, but not beside the other pods, is deferred', () => {
    const other = aPodWith({requests: {cpu: '1500m'}}, 'other');
    const wanted = {requests: {cpu: '600m', memory: '64Mi'}, limits: {cpu: '600m', memory: '128Mi'}};
    expect(describeResize(wanted, [other])).toBe(
      "Deferred: Node didn't have enough resource: cpu, requested: 600, used: 1500, capacity: 2000",
    );
  });

  test('larger than the node fits when admission is skipped', () => {
    const pod = aPodWith({requests: {cpu: '64', memory: '64Mi'}, limits: {cpu: '64', memory: '128Mi'}});
    const request = {pod, allocation: allocationOf(aPodWith(BURSTABLE)), others: [], node: NODE};
    expect(canResizePod({...request, admission: false})).toEqual({kind: 'fits'});
  });

  test('of pod-level resources is recognized', () => {
    const pod = (cpu: string): Pod => aPod({resources: {requests: {cpu}}});
    const request = {
      pod: pod('1'),
      allocation: allocationOf(pod('500m')),
      others: [],
      node: NODE,
      admission: true,
    };
    expect(canResizePod(request)).toEqual({kind: 'fits'});
  });
});

describe('allocated resources', () => {
  const review = (allocations: AllocationManager, active: readonly Pod[]): readonly string[] =>
    allocations.retryPendingResizes({active, node: NODE, admission: true}).map((pod) => podRef(pod).name);

  const cpu = (amount: string): ResourceRequirements => ({requests: {cpu: amount}});

  /** Returns a manager with pods that were granted 100m CPU and now request more. */
  function growing(...wanted: readonly Pod[]): AllocationManager {
    const allocations = new AllocationManager();
    for (const pod of wanted) {
      allocations.grant(aPodWith(cpu('100m'), podRef(pod).name));
      allocations.pushPendingResize(podRef(pod).uid);
    }
    return allocations;
  }

  test('remain as granted until a retry grants more', () => {
    const pod = aPodWith(cpu('1'));
    const allocations = growing(pod);
    expect(allocations.getAllocatedPod(pod).spec.containers[0]?.resources).toEqual(cpu('100m'));
    expect(allocations.getAllocatedPod(pod)).toBe(allocations.getAllocatedPod(pod));

    expect(review(allocations, [pod])).toEqual(['web']);
    expect(allocations.getAllocatedPod(pod)).toBe(pod);
    expect(review(allocations, [pod])).toEqual([]);
    expect(allocations.hasUnreviewedResizes).toBe(false);
  });

  test('are granted to pods that request less first, then by priority', () => {
    const [low, high, less] = [
      aPodWith(cpu('1500m'), 'low', 1),
      aPodWith(cpu('1500m'), 'high', 2),
      aPodWith(cpu('50m'), 'less'),
    ];
    const allocations = growing(low, high, less);
    expect(review(allocations, [low, high, less])).toEqual(['less', 'high', 'low']);
    expect(allocations.getAllocatedPod(high)).toBe(high);
    expect(allocations.getResizeReview(podRef(low).uid)).toMatchObject({reason: 'Deferred'});
  });

  test('report a deferred resize once, and are granted when there is room', () => {
    const [pod, other] = [aPodWith(cpu('1')), aPodWith(cpu('1500m'), 'other')];
    const allocations = growing(pod);
    expect(review(allocations, [pod, other])).toEqual(['web']);
    expect(review(allocations, [pod, other])).toEqual([]);
    expect(review(allocations, [pod])).toEqual(['web']);
    expect(allocations.getResizeReview(podRef(pod).uid)).toBeUndefined();
  });

  test('are not retried for an infeasible resize until the pod changes', () => {
    const pod = aPodWith(cpu('9'));
    const allocations = growing(pod);
    expect(review(allocations, [pod])).toEqual(['web']);
    expect(allocations.hasUnreviewedResizes).toBe(false);
    expect(allocations.getResizeReview(podRef(pod).uid)).toMatchObject({reason: 'Infeasible'});
  });

  test('of a pod that is admitted again are those it requests', () => {
    const pod = aPodWith(cpu('1'));
    const allocations = growing(pod);
    allocations.forget(podRef(pod).uid);
    allocations.admit(pod);
    expect(allocations.getAllocatedPod(pod)).toBe(pod);
  });
});

describe('a Guaranteed pod keeps what a manager of the node gave it', () => {
  const guaranteed = (cpu: string, memory: string): ResourceRequirements => ({
    requests: {cpu, memory},
    limits: {cpu, memory},
  });
  const settings = {reservedMemory: [], managesPodLevel: false};

  test.each([
    ['2', '64Mi', 'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"'],
    ['1', '128Mi', 'Resize is infeasible for Guaranteed Pods alongside Memory Manager policy "Static"'],
  ])('when it asks for %s CPUs and %s', (cpu, memory, message) => {
    const node = {
      ...NODE,
      cpuManager: {policy: 'static'} as NonNullable<NodeFacts['cpuManager']>,
      memoryManager: {policy: 'Static', ...settings},
    };
    const request = {
      pod: aPodWith(guaranteed(cpu, memory)),
      allocation: allocationOf(aPodWith(guaranteed('1', '64Mi'))),
      others: [],
      admission: true,
    };
    expect(canResizePod({...request, node})).toMatchObject({pending: {reason: 'Infeasible', message}});
    expect(canResizePod({...request, node: NODE})).toEqual({kind: 'fits'});
  });
});
