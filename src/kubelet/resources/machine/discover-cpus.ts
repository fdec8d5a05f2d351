import {SystemError} from '../../../base/errors.js';
import type {CpuLocation, CpuTopology, Machine} from '../../contract/resources/machine.js';

/** Returns the topology of the CPUs of a machine (topology.Discover). Throws SystemError if it has none. */
export function discoverCpus({cpuCount, socketCount, numaNodes}: Machine): CpuTopology {
  if (cpuCount === 0) throw new SystemError('could not detect number of cpus');
  const cpus = new Map<number, CpuLocation>();
  for (const {id: numaNode, cores} of numaNodes)
    for (const {socket, threads, uncoreCaches} of cores)
      for (const thread of threads)
        cpus.set(thread, {
          numaNode,
          socket,
          core: Math.min(...threads),
          uncoreCache: uncoreCaches[0]?.id ?? socket,
        });
  const countDistinct = (unit: keyof CpuLocation): number =>
    new Set([...cpus.values()].map((location) => location[unit])).size;
  return {
    cpuCount,
    coreCount: numaNodes.reduce((count, {cores}) => count + cores.length, 0),
    socketCount,
    numaNodeCount: countDistinct('numaNode'),
    uncoreCacheCount: countDistinct('uncoreCache'),
    cpus,
  };
}
