import {expect, test} from 'vitest';
import {createManagerSettings} from '../../../src/kubelet/configuration/manager-settings.js';
import {readKubeletConfig, type KubeletConfig} from '../../../src/kubelet/configuration/kubelet-config.js';

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const read = (text: string, flags: Readonly<Record<string, readonly string[]>> = {}): KubeletConfig =>
  readKubeletConfig([{path: 'k.yaml', content: HEAD + text}], new Map(Object.entries(flags)));

const TWO_NODES = [
  {numaNode: 0, limits: {memory: '1Gi', 'hugepages-2Mi': '2Mi'}},
  {numaNode: 1, limits: {memory: '100Mi'}},
];

test('the memory manager has its settings from the file', () => {
  const {values, unsupported} = read(
    `memoryManagerPolicy: Static\nreservedMemory: ${JSON.stringify(TWO_NODES)}\nfeatureGates: {PodLevelResourceManagers: true}\n`,
  );
  expect(unsupported).toEqual([]);
  expect(createManagerSettings(values).memoryManager).toEqual({
    policy: 'Static',
    reservedMemory: TWO_NODES,
    managesPodLevel: true,
  });
});

test.each([
  ['once', ['0:memory=1Gi,hugepages-2Mi=2Mi;1:memory=100Mi']],
  ['repeated', ['0:memory=1Gi,hugepages-2Mi=2Mi', '1:memory=100Mi']],
])('the flag for reserved memory is given %s', (_how, texts) => {
  expect(read('', {'reserved-memory': texts}).values.reservedMemory).toEqual(TWO_NODES);
});

test.each([
  [
    '0',
    'the reserved memory has incorrect format, expected numaNodeID:type=quantity[,type=quantity...], got 0',
  ],
  ['x:memory=1', 'failed to convert the NUMA node ID, expected integer, got x'],
  ['0:memory', 'the reserved limit has incorrect value, expected type=quantity, got memory'],
  ['0:cpu=1', 'memory type conversion error, unknown type: "cpu"'],
  ['0:memory=1X', 'failed to parse the quantity: 1X'],
])('the flag %j is refused with the kubelet’s text', (text, message) => {
  expect(() => read('', {'reserved-memory': [text]})).toThrow(message);
});

test.each([
  [
    [{numaNode: 0, limits: {cpu: '1'}}],
    'the limit type "cpu" for NUMA node 0 is not supported, only [memory hugepages-<HugePageSize>] is accepted',
  ],
  [
    [{numaNode: 1, limits: {memory: '0'}}],
    'reserved memory may not be zero for NUMA node 1 and resource "memory"',
  ],
  [
    [
      {numaNode: 1, limits: {memory: '1'}},
      {numaNode: 1, limits: {memory: '2'}},
    ],
    'the reserved memory has a duplicate value for NUMA node 1 and resource "memory"',
  ],
])('reservations %j are refused with the kubelet’s text', (reservations, message) => {
  expect(() => read(`reservedMemory: ${JSON.stringify(reservations)}\n`)).toThrow(message);
});
