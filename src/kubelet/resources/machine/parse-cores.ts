import {SystemError} from '../../../base/errors.js';
import {parseCpuSet} from '../cpu-set.js';
import {goQuote} from '../../../format/go-quote.js';
import type {MachineCore} from '../../contract/resources/machine.js';
import {CPUS_DIR, type MachineFiles} from './machine-files.js';

/** Returns the cores of the CPUs that are online, without caches (sysinfo.getCoresInfo). */
export function parseCores(files: MachineFiles, cpus: readonly number[]): readonly MachineCore[] {
  const cores: (MachineCore & {readonly threads: number[]})[] = [];
  for (const cpu of cpus) {
    if (!isOnline(files, cpu)) continue;
    const id = readCoreId(files, cpu, 'core_id');
    const socket = readCoreId(files, cpu, 'physical_package_id');
    if (id === undefined || socket === undefined) continue;
    const known = cores.find((core) => core.id === id && core.socket === socket);
    if (known === undefined) cores.push({id, socket, threads: [cpu], caches: [], uncoreCaches: []});
    else known.threads.push(cpu);
  }
  return cores;
}

/** Returns an id from the topology directory of a CPU; undefined without the file. */
export function readCoreId(files: MachineFiles, cpu: number, name: string): number | undefined {
  const text = files.read(`${CPUS_DIR}/cpu${cpu}/topology/${name}`)?.trim();
  if (text === undefined) return undefined;
  if (!/^[+-]?\d+$/.test(text))
    throw new SystemError(`strconv.Atoi: parsing ${goQuote(text)}: invalid syntax`);
  return Number(text);
}

/** Reports whether a CPU is online; all are if the kernel cannot take one offline. */
export function isOnline(files: MachineFiles, cpu: number): boolean {
  const text = files.read(`${CPUS_DIR}/online`);
  return text === undefined || ((parseCpuSet(text.trim()) >> BigInt(cpu)) & 1n) === 1n;
}
