import {expect, test} from 'vitest';
import type {PodSpec} from '../../../../../src/api/types/v1-pod.js';
import type {ResourceList} from '../../../../../src/api/types/v1-meta.js';
import {mediumMount} from '../../../../../src/kubelet/managers/volumes/plugins/empty-dir-medium.js';
import {aPodWith} from '../volume-fixtures.js';

const MI = 1024n * 1024n;
const ALL = 1024n * MI;

function memorySize(sizeLimit: string | undefined, spec: PodSpec): string | undefined {
  const source = {medium: 'Memory', ...(sizeLimit !== undefined && {sizeLimit})};
  return mediumMount({pod: aPodWith([], spec), source}, ALL)?.options[1];
}

test.each([
  ['the node allocatable memory by default', undefined, {}, ALL],
  ['its sizeLimit', '4Mi', {}, 4n * MI],
  ['the memory limit of the pod', '100Mi', {limits: {memory: '64Mi'}}, 64n * MI],
  ['the node allocatable memory if the limits are higher', '2Gi', {limits: {memory: '3Gi'}}, ALL],
  ['the node allocatable memory with a sizeLimit of 0', '0', {}, ALL],
])('the size of a memory volume is %s', (_title, sizeLimit, resources, bytes) => {
  const spec = {containers: [{name: 'main', image: 'i', resources}]};
  expect(memorySize(sizeLimit, spec)).toBe(`size=${bytes}`);
});

test('the memory limit of the pod applies only if every container has one', () => {
  const limited = {name: 'a', image: 'i', resources: {limits: {memory: '64Mi'}}};
  const unlimited = {name: 'b', image: 'i'};
  const size = (spec: PodSpec): string | undefined => memorySize(undefined, spec);
  expect(size({containers: [limited, unlimited]})).toBe(`size=${ALL}`);
  expect(size({containers: [limited], initContainers: [unlimited]})).toBe(`size=${ALL}`);
  expect(size({containers: [limited, {...limited, name: 'c'}]})).toBe(`size=${128n * MI}`);
  const resources = {limits: {memory: '96Mi'}};
  expect(size({containers: [limited, unlimited], resources})).toBe(`size=${96n * MI}`);
});

function hugePages(medium: string, ...requests: readonly ResourceList[]): unknown {
  const containers = requests.map((list, index) => ({
    ...{name: `c${index}`, image: 'i'},
    resources: {requests: list},
  }));
  return mediumMount({pod: aPodWith([], {containers}), source: {medium}}, ALL);
}

test.each<[string, string, readonly ResourceList[], string]>([
  ['the only requested size', 'HugePages', [{'hugepages-1Gi': '1Gi'}], '1Gi'],
  [
    'the same size of two containers',
    'HugePages',
    [{'hugepages-2Mi': '4Mi'}, {'hugepages-2Mi': '2Mi'}],
    '2Mi',
  ],
  [
    'the named one of several sizes',
    'HugePages-2Mi',
    [{'hugepages-1Gi': '1Gi', 'hugepages-2Mi': '2Mi'}],
    '2Mi',
  ],
  ['a size in another notation', 'HugePages-2048Ki', [{'hugepages-2Mi': '2Mi'}], '2Mi'],
])('huge pages are mounted with %s', (_title, medium, requests, size) => {
  expect(hugePages(medium, ...requests)).toEqual({fileSystem: 'hugetlbfs', options: [`pagesize=${size}`]});
});

test('huge page requests of init containers and of the pod are included', () => {
  const resources = {requests: {'hugepages-2Mi': '2Mi'}};
  const containers = [{name: 'main', image: 'i'}];
  const source = {medium: 'HugePages'};
  const init = aPodWith([], {containers, initContainers: [{name: 'init', image: 'i', resources}]});
  const whole = aPodWith([], {containers, resources});
  for (const pod of [init, whole]) expect(mediumMount({pod, source}, ALL)?.options).toEqual(['pagesize=2Mi']);
});

test.each<[string, readonly ResourceList[], string]>([
  [
    'HugePages',
    [{memory: '1Gi'}],
    'medium HugePages: hugePages storage requested, but there is no resource request for huge pages',
  ],
  [
    'HugePages-1Gi',
    [{'hugepages-2Mi': '2Mi'}],
    'medium HugePages-1Gi: hugePages storage requested, but there is no resource request for huge pages',
  ],
  [
    'HugePages',
    [{'hugepages-2Mi': '2Mi'}, {'hugepages-1Gi': '1Gi'}],
    "medium: HugePages can't be used if container requests multiple huge page sizes",
  ],
  ['Paper', [{}], 'unknown storage medium "Paper"'],
])('medium %s with %j is rejected with the kubelet’s message', (medium, requests, message) => {
  expect(() => hugePages(medium, ...requests)).toThrow(message);
});
