import {cpus} from 'node:os';
import type {MachineIds} from '../../../base/host/machine-ids.js';
import type {MetricFamily} from '../../managers/metrics/exposition.js';
import type {NodeUsage} from './node-usage.js';

/** Facts of a machine and its operating system. */
export interface MachineFacts {
  readonly ids: MachineIds;
  /** Content of /proc/cpuinfo. */
  readonly cpuInfo: string;
  readonly kernelRelease: string;
  readonly osImage: string;
}

/** Parses /proc/cpuinfo; without its identifiers, as on some architectures, each processor is a core of one socket. */
export function parseCpuTopology(text: string): {readonly cores: number; readonly sockets: number} {
  const processors = text.split(/\n\s*\n/).filter((part) => /^processor\s*:/m.test(part));
  const field = (part: string, name: string): string | undefined =>
    new RegExp(`^${name}\\s*:\\s*(\\d+)`, 'm').exec(part)?.[1];
  const sockets = new Set(processors.map((part) => field(part, 'physical id') ?? '0'));
  const cores = new Set(
    processors.map((part, index) => `${field(part, 'physical id') ?? 0}/${field(part, 'core id') ?? index}`),
  );
  return {cores: cores.size, sockets: sockets.size};
}

/**
 * Returns cAdvisor's metrics of the machine (PrometheusMachineCollector). Like those of most machines, it has no books, drawers
 * and persistent memory.
 */
export function collectMachineMetrics(
  {memoryBytes, swapTotalBytes}: Pick<NodeUsage, 'memoryBytes' | 'swapTotalBytes'>,
  {ids: {machineId, systemUuid, bootId}, cpuInfo, kernelRelease, osImage}: MachineFacts,
): readonly MetricFamily[] {
  const machine = {machine_id: machineId, system_uuid: systemUuid, boot_id: bootId};
  const gauge = (
    name: string,
    help: string,
    value: number,
    labels: readonly object[] = [{}],
  ): MetricFamily => ({
    ...{name, help, type: 'gauge'},
    samples: labels.map((each) => ({labels: {...machine, ...each}, value})),
  });
  const {cores, sockets} = parseCpuTopology(cpuInfo);
  const versions = {kernelVersion: kernelRelease, osVersion: osImage};
  const unknown = {dockerVersion: '', cadvisorVersion: '', cadvisorRevision: ''};
  return [
    {
      ...{name: 'machine_scrape_error', type: 'gauge', samples: [{labels: {}, value: 0}]},
      help: '1 if there was an error while getting machine metrics, 0 otherwise.',
    },
    {
      ...{
        name: 'cadvisor_version_info',
        type: 'gauge',
        samples: [{labels: {...versions, ...unknown}, value: 1}],
      },
      help: "A metric with a constant '1' value labeled by kernel version, OS version, docker version, cadvisor version & cadvisor revision.",
    },
    gauge('machine_cpu_cores', 'Number of logical CPU cores.', cpus().length),
    gauge('machine_cpu_physical_cores', 'Number of physical CPU cores.', cores),
    gauge('machine_cpu_sockets', 'Number of CPU sockets.', sockets),
    gauge('machine_cpu_books', 'Number of CPU books.', 0),
    gauge('machine_cpu_drawers', 'Number of CPU drawers.', 0),
    gauge('machine_memory_bytes', 'Amount of memory installed on the machine.', Number(memoryBytes)),
    gauge('machine_swap_bytes', 'Amount of swap memory available on the machine.', Number(swapTotalBytes)),
    gauge('machine_nvm_avg_power_budget_watts', 'NVM power budget.', 0),
    gauge(
      'machine_nvm_capacity',
      'NVM capacity value labeled by NVM mode (memory mode or app direct mode).',
      0,
      ['app_direct_mode', 'memory_mode'].map((mode) => ({mode})),
    ),
  ];
}
