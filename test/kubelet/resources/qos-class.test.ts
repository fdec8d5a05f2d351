import {describe, expect, test} from 'vitest';
import type {ResourceRequirements} from '../../../src/api/types/v1-meta.js';
import {oomScoreAdj} from '../../../src/kubelet/managers/kuberuntime/config/resources/oom-score.js';
import {podCgroupParent} from '../../../src/kubelet/resources/pod-cgroup-parent.js';
import {computePodQosClass} from '../../../src/kubelet/resources/qos-class.js';
import {aContainer, aPod, UID} from '../../fakes/a-pod.js';

const GIB = 1024n ** 3n;
const FULL: ResourceRequirements = {limits: {cpu: '1', memory: '64Mi'}};

describe('the QoS class is', () => {
  test.each<[string, string, ResourceRequirements[]]>([
    ['BestEffort', 'without requests and limits', [{}, {}]],
    ['BestEffort', 'if all requests and limits are 0', [{requests: {cpu: '0'}, limits: {memory: '0'}}]],
    ['BestEffort', 'if only other resources are requested', [{requests: {'ephemeral-storage': '1Gi'}}]],
    ['Guaranteed', 'if all containers limit CPU and memory', [FULL, FULL]],
    [
      'Guaranteed',
      'if requests equal limits in another notation',
      [{requests: {cpu: '1000m', memory: '65536Ki'}, ...FULL}],
    ],
    ['Burstable', 'if one container has no limits', [FULL, {}]],
    ['Burstable', 'if one container limits CPU only', [{limits: {cpu: '1'}}]],
    ['Burstable', 'if one container requests less than its limit', [{requests: {cpu: '500m'}, ...FULL}]],
    ['Burstable', 'if there are requests only', [{requests: {cpu: '1', memory: '64Mi'}}]],
  ])('%s %s', (expected, _title, all) => {
    const containers = all.map((resources, index) => aContainer({name: `c${index}`, resources}));

    expect(computePodQosClass(aPod({containers}))).toBe(expected);
  });

  // Proves: Container.resources
  test('lowered by an init container', () => {
    const pod = aPod({
      containers: [aContainer({resources: FULL})],
      initContainers: [aContainer({name: 'init'})],
    });

    expect(computePodQosClass(pod)).toBe('Burstable');
  });

  // Proves: PodSpec.resources
  test('that of the pod-level resources if they are set', () => {
    expect(computePodQosClass(aPod({resources: FULL}))).toBe('Guaranteed');
    expect(
      computePodQosClass(
        aPod({containers: [aContainer({resources: FULL})], resources: {limits: {cpu: '2'}}}),
      ),
    ).toBe('Burstable');
  });
});

describe('oom_score_adj on a node with 16 GiB is', () => {
  test.each([
    ['0', 999n],
    ['64Mi', 997n],
    ['1Gi', 938n],
    ['16Gi', 3n],
    ['32Gi', 3n],
  ])('for a Burstable container that requests %s: %d', (memory, expected) => {
    const container = aContainer({resources: {requests: {cpu: '1m', memory}}});

    expect(oomScoreAdj(aPod({containers: [container]}), container, 16n * GIB)).toBe(expected);
  });

  test('1000 for BestEffort, -997 for Guaranteed', () => {
    const container = aContainer({resources: FULL});

    expect(oomScoreAdj(aPod(), aContainer(), GIB)).toBe(1000n);
    expect(oomScoreAdj(aPod({containers: [container]}), container, GIB)).toBe(-997n);
  });

  test('for a sidecar at most that of the container with the smallest memory request', () => {
    const sidecar = aContainer({name: 'side', restartPolicy: 'Always'});
    const main = aContainer({resources: {requests: {memory: '1Gi'}}});
    const pod = aPod({containers: [main], initContainers: [sidecar]});

    expect(oomScoreAdj(pod, sidecar, 16n * GIB)).toBe(938n);
  });

  test('reduced by a share of the pod-level requests that exceed those of the containers', () => {
    const pod = aPod({
      resources: {requests: {memory: '2Gi'}},
      containers: [aContainer(), aContainer({name: 'b'})],
    });

    expect(oomScoreAdj(pod, aContainer(), 16n * GIB)).toBe(938n);
  });

  // Proves: PodSpec.priorityClassName
  test.each([
    ['a static pod', {'kubernetes.io/config.source': 'file'}, 0, -997n],
    ['a pod of system-critical priority', {}, 2_000_000_000, -997n],
    ['any other pod', {'kubernetes.io/config.source': 'api'}, 1000, 1000n],
  ])('for the priority class system-node-critical, %s', (_title, annotations, priority, expected) => {
    const pod = aPod({priorityClassName: 'system-node-critical', priority}, {annotations});

    expect(oomScoreAdj(pod, aContainer(), GIB)).toBe(expected);
  });
});

describe('the cgroup parent', () => {
  const burstable = aPod({containers: [aContainer({resources: {requests: {cpu: '1'}}})]});
  const guaranteed = aPod({containers: [aContainer({resources: FULL})]});
  const slices = UID.replaceAll('-', '_');

  test.each([
    ['cgroupfs', '', aPod(), `/kubepods/besteffort/pod${UID}`],
    ['cgroupfs', '', burstable, `/kubepods/burstable/pod${UID}`],
    ['cgroupfs', '', guaranteed, `/kubepods/pod${UID}`],
    ['cgroupfs', '/some/parent', guaranteed, `/some/parent/kubepods/pod${UID}`],
    ['systemd', '', guaranteed, `/kubepods.slice/kubepods-pod${slices}.slice`],
    [
      'systemd',
      '',
      burstable,
      `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${slices}.slice`,
    ],
    ['systemd', '/a-b', guaranteed, `/a_b.slice/a_b-kubepods.slice/a_b-kubepods-pod${slices}.slice`],
  ] as const)(
    'with the driver %s and the root "%s" contains the QoS class and the UID',
    (driver, root, pod, expected) => {
      expect(podCgroupParent(pod, {driver, root, version: 2, swapAccounting: false})).toBe(expected);
    },
  );
});
