import {describe, expect, test} from 'vitest';
import type {ResourceRequirements} from '../../../../../../src/api/types/v1-meta.js';
import {oomScoreAdj} from '../../../../../../src/kubelet/managers/kuberuntime/config/resources/oom-score.js';
import {podCgroupParent} from '../../../../../../src/kubelet/managers/kuberuntime/config/resources/pod-cgroup-parent.js';
import {computePodQosClass} from '../../../../../../src/kubelet/managers/kuberuntime/config/resources/qos-class.js';
import {UID, aContainer, aPod} from '../../../../pod-builders.js';

const GIB = 1024n ** 3n;
const FULL: ResourceRequirements = {limits: {cpu: '1', memory: '64Mi'}};

describe('the quality of service is', () => {
  test.each<[string, string, ResourceRequirements[]]>([
    ['BestEffort', 'when nobody asks for anything', [{}, {}]],
    ['BestEffort', 'when all that is asked for is nothing', [{requests: {cpu: '0'}, limits: {memory: '0'}}]],
    ['BestEffort', 'when only other resources are asked for', [{requests: {'ephemeral-storage': '1Gi'}}]],
    ['Guaranteed', 'when everybody limits both', [FULL, FULL]],
    [
      'Guaranteed',
      'when requests equal limits in another notation',
      [{requests: {cpu: '1000m', memory: '65536Ki'}, ...FULL}],
    ],
    ['Burstable', 'when one limits nothing', [FULL, {}]],
    ['Burstable', 'when one limits CPU only', [{limits: {cpu: '1'}}]],
    ['Burstable', 'when one asks for less than its limit', [{requests: {cpu: '500m'}, ...FULL}]],
    ['Burstable', 'when there are requests only', [{requests: {cpu: '1', memory: '64Mi'}}]],
  ])('%s %s', (expected, _title, all) => {
    const containers = all.map((resources, index) => aContainer({name: `c${index}`, resources}));

    expect(computePodQosClass(aPod({containers}))).toBe(expected);
  });

  test('lowered by an init container', () => {
    const pod = aPod({
      containers: [aContainer({resources: FULL})],
      initContainers: [aContainer({name: 'init'})],
    });

    expect(computePodQosClass(pod)).toBe('Burstable');
  });

  test('that of the Pod’s own resources where it has some', () => {
    expect(computePodQosClass(aPod({resources: FULL}))).toBe('Guaranteed');
    expect(
      computePodQosClass(
        aPod({containers: [aContainer({resources: FULL})], resources: {limits: {cpu: '2'}}}),
      ),
    ).toBe('Burstable');
  });
});

describe('oom_score_adj on a node of 16 GiB is', () => {
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

  test('for a sidecar no more than for the container that asks for the least', () => {
    const sidecar = aContainer({name: 'side', restartPolicy: 'Always'});
    const main = aContainer({resources: {requests: {memory: '1Gi'}}});
    const pod = aPod({containers: [main], initContainers: [sidecar]});

    expect(oomScoreAdj(pod, sidecar, 16n * GIB)).toBe(938n);
  });

  test('lower for a share of what the Pod asks for beyond its containers', () => {
    const pod = aPod({
      resources: {requests: {memory: '2Gi'}},
      containers: [aContainer(), aContainer({name: 'b'})],
    });

    expect(oomScoreAdj(pod, aContainer(), 16n * GIB)).toBe(938n);
  });

  test.each([
    ['a static pod', {'kubernetes.io/config.source': 'file'}, 0, -997n],
    ['a pod of system priority', {}, 2_000_000_000, -997n],
    ['any other pod', {'kubernetes.io/config.source': 'api'}, 1000, 1000n],
  ])('of the class system-node-critical: %s', (_title, annotations, priority, expected) => {
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
  ] as const)('with %s below "%s"', (driver, root, pod, expected) => {
    expect(podCgroupParent(pod, {driver, root, version: 2, swapAccounting: false})).toBe(expected);
  });
});
