import {expect, test} from 'vitest';
import type {ContainerResources} from '../../../../src/kubelet/contract/node-manager.js';
import type {CgroupFacts} from '../../../../src/kubelet/contract/node-facts.js';
import {createSwapManager} from '../../../../src/kubelet/managers/swap/swap-manager.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';

const WITH_LIMIT = {limits: {memory: '64Mi'}};
const POD_LIMIT = {resources: {limits: {memory: '96Mi'}}};

interface Case {
  readonly cgroup: Pick<CgroupFacts, 'version' | 'swapAccounting'>;
  readonly resources?: object;
  readonly spec?: object;
  readonly expected: ContainerResources;
}

const V1 = {version: 1, swapAccounting: true} as const;
const V2 = {version: 2, swapAccounting: true} as const;

test.each<[string, Case]>([
  [
    'cgroup v1 is limited to its memory',
    {cgroup: V1, resources: WITH_LIMIT, expected: {memorySwapLimitInBytes: 67_108_864n}},
  ],
  [
    'cgroup v1 without a limit has the limit of the pod',
    {cgroup: V1, spec: POD_LIMIT, expected: {memorySwapLimitInBytes: 100_663_296n}},
  ],
  ['cgroup v1 without any limit has none', {cgroup: V1, expected: {memorySwapLimitInBytes: 0n}}],
  [
    'cgroup v2 has no swap',
    {cgroup: V2, resources: WITH_LIMIT, expected: {unified: {'memory.swap.max': '0'}}},
  ],
  ['cgroup v1 without accounting is left alone', {cgroup: {...V1, swapAccounting: false}, expected: {}}],
  ['cgroup v2 without accounting is left alone', {cgroup: {...V2, swapAccounting: false}, expected: {}}],
])('a container on %s', (_title, {cgroup, resources = {}, spec, expected}) => {
  const node = {...GOLDEN_NODE, cgroup: {...GOLDEN_NODE.cgroup, ...cgroup}};
  const container = aContainer({resources});
  const pod = aPod({containers: [container], ...spec});
  expect(createSwapManager().resources?.({pod, container, node})).toEqual(expected);
});
