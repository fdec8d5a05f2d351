import type {CpuShare} from '../../kubelet/index.js';
import {alignLines, indentLines} from '../../cli/output/views/aligned-lines.js';

/**
 * Returns the section about who has which CPUs, to follow the output of `kubectl describe`. `nameOf` returns the name of the pod
 * with a UID.
 */
export function cpuSection(shares: readonly CpuShare[], nameOf: (uid: string) => string | undefined): string {
  const rows = shares.map(({socket, numaNode, cores, cpus, owners}) => {
    const names = owners.map(({uid, container}) => `${nameOf(uid) ?? uid} (${container})`);
    return [socket, numaNode, cores, cpus, names.join(', ') || '<shared>'].join('\t');
  });
  return alignLines([
    'CPUs:',
    ...indentLines(1, [
      'Socket\tNUMA Node\tCores\tCPUs\tOwner',
      '------\t---------\t-----\t----\t-----',
      ...rows,
    ]),
  ]);
}
