import {expect, test} from 'vitest';
import type {PodSpec} from '../../../../src/api/types/v1-pod.js';
import type {NodePressure} from '../../../../src/kubelet/contract/cluster/node-pressure.js';
import {findRejection} from '../../../../src/kubelet/pods/admission/admit-pod.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';

const TOLERANT: Partial<PodSpec> = {
  tolerations: [{key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule'}],
};
const BURSTABLE: Partial<PodSpec> = {
  containers: [aContainer({resources: {requests: {memory: '1Mi'}}})],
};
const CRITICAL: Partial<PodSpec> = {priority: 2_000_000_000};

test.each<[readonly NodePressure[], Partial<PodSpec>, boolean]>([
  [[], {}, true],
  [['MemoryPressure'], {}, false],
  [['MemoryPressure'], TOLERANT, true],
  [['MemoryPressure'], BURSTABLE, true],
  [['MemoryPressure', 'DiskPressure'], BURSTABLE, false],
  [['MemoryPressure', 'PIDPressure'], TOLERANT, false],
  [['PIDPressure'], BURSTABLE, false],
  [['DiskPressure'], {tolerations: [{operator: 'Exists'}]}, false],
  [['DiskPressure', 'PIDPressure'], CRITICAL, true],
])('with %j, a pod with %j is admitted: %s', (pressures, spec, isAdmitted) => {
  const rejection = findRejection({pod: aPod(spec), others: [], node: GOLDEN_NODE, pressures});
  expect(rejection === undefined).toBe(isAdmitted);
  if (rejection === undefined) return;
  expect(rejection.reason).toBe('Evicted');
  expect(rejection.message).toBe(`The node had condition: [${pressures.join(' ')}]. `);
});

test('a static pod is admitted', () => {
  const annotations = {'kubernetes.io/config.source': 'file'};
  const request = {pod: aPod({}, {annotations}), others: [], node: GOLDEN_NODE};
  expect(findRejection({...request, pressures: ['DiskPressure']})).toBeUndefined();
});
