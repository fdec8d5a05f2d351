import {expect, test} from 'vitest';
import {parseCpuTopology} from '../../../../src/kubelet/server/stats/machine-metrics.js';

/** Returns /proc/cpuinfo of processors on these sockets and cores. */
function cpuInfo(...processors: readonly (readonly [socket: number, core: number])[]): string {
  return processors
    .map(([socket, core], index) => `processor\t: ${index}\nphysical id\t: ${socket}\ncore id\t\t: ${core}\n`)
    .join('\n');
}

test('threads of a core count once, and sockets have cores of their own', () => {
  expect(parseCpuTopology(cpuInfo([0, 0], [0, 0], [0, 1], [1, 0]))).toEqual({cores: 3, sockets: 2});
});

test('processors without identifiers are cores of one socket', () => {
  expect(parseCpuTopology('processor\t: 0\n\nprocessor\t: 1\n')).toEqual({cores: 2, sockets: 1});
});
