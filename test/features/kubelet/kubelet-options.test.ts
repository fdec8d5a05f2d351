import {expect, test} from 'vitest';
import {joinedNode} from '../../../src/features/kubelet/kubelet-options.js';
import {readKubeletConfig} from '../../../src/kubelet/configuration/kubelet-config.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';

test('without localStorageCapacityIsolation, local storage is no resource of the node', () => {
  const found = {node: GOLDEN_NODE} as unknown as Parameters<typeof joinedNode>[0];
  const storageWith = (value: string): bigint => {
    const flags = new Map([['local-storage-capacity-isolation', [value]]]);
    return joinedNode(found, {}, readKubeletConfig([], flags).values).node.ephemeralStorageBytes;
  };
  expect(storageWith('true')).toBe(GOLDEN_NODE.ephemeralStorageBytes);
  expect(storageWith('false')).toBe(0n);
});
