import {SystemError} from '../../../base/errors.js';
import {goQuote} from '../../../format/go-quote.js';
import type {HugePages, Machine, NumaNode} from '../../contract/resources/machine.js';
import {addCaches} from './add-caches.js';
import {CPUS_DIR, readNumber, type MachineFiles} from './machine-files.js';
import {isOnline, parseCores, readCoreId} from './parse-cores.js';

const NODES_DIR = '/sys/devices/system/node';

/**
 * Returns the machine that files of /proc and /sys describe (cAdvisor machine.Info). Throws SystemError for a file whose
 * content is invalid.
 */
export function parseMachine(files: MachineFiles): Machine {
  const meminfo = files.read('/proc/meminfo') ?? '';
  const {numaNodes, cpuCount} = parseTopology(files);
  return {
    cpuCount,
    physicalCoreCount: countIds(files, 'core id', 'core_id'),
    socketCount: countIds(files, 'physical id', 'physical_package_id'),
    memoryBytes: parseCapacity(meminfo, 'MemTotal'),
    swapBytes: parseCapacity(meminfo, 'SwapTotal'),
    hugePages: parseHugePages(files, '/sys/kernel/mm/hugepages'),
    numaNodes,
  };
}

type Topology = Pick<Machine, 'numaNodes' | 'cpuCount'>;

/** Returns the NUMA nodes (sysinfo.GetNodesInfo). */
function parseTopology(files: MachineFiles): Topology {
  const nodes = listNumbered(files, NODES_DIR, 'node');
  if (nodes.length === 0) return parsePackages(files);
  const numaNodes = nodes.map((id): NumaNode => {
    const directory = `${NODES_DIR}/node${id}`;
    return {
      ...addCaches(files, parseCores(files, listNumbered(files, directory, 'cpu'))),
      id,
      memoryBytes: parseNodeMemory(files, directory),
      hugePages: parseHugePages(files, `${directory}/hugepages`),
      distances: parseDistances(files.read(`${directory}/distance`)),
    };
  });
  const threads = numaNodes.flatMap(({cores}) => cores.flatMap((core) => core.threads));
  return {numaNodes, cpuCount: threads.length};
}

/** Returns one NUMA node per socket, for a kernel without NUMA (sysinfo.getCPUTopology). */
function parsePackages(files: MachineFiles): Topology {
  const cpus = listNumbered(files, CPUS_DIR, 'cpu');
  const bySocket = new Map<number, number[]>();
  for (const cpu of cpus) {
    const socket = readCoreId(files, cpu, 'physical_package_id');
    if (socket !== undefined) bySocket.set(socket, [...(bySocket.get(socket) ?? []), cpu]);
  }
  const numaNodes = [...bySocket].map(([id, own]): NumaNode => {
    const unknown = {memoryBytes: 0n, hugePages: [], distances: []};
    return {...addCaches(files, parseCores(files, own)), ...unknown, id};
  });
  return {numaNodes: numaNodes.toSorted((a, b) => a.id - b.id), cpuCount: cpus.length};
}

/** Returns the numbers of directories such as cpu0, in the order of their names (filepath.Glob). */
function listNumbered(files: MachineFiles, directory: string, prefix: string): readonly number[] {
  const pattern = new RegExp(`^${prefix}(\\d+)$`);
  return files.list(directory).flatMap((name) => {
    const id = pattern.exec(name)?.[1];
    return id === undefined ? [] : [Number(id)];
  });
}

function parseCapacity(text: string, key: string): bigint {
  const kibibytes = new RegExp(`${key}:\\s*([0-9]+) kB`).exec(text)?.[1];
  if (kibibytes === undefined) throw new SystemError(`failed to match regexp in output: ${goQuote(text)}`);
  return BigInt(kibibytes) * 1024n;
}

function parseNodeMemory(files: MachineFiles, directory: string): bigint {
  const text = files.read(`${directory}/meminfo`);
  return text === undefined ? 0n : parseCapacity(text.trim(), 'MemTotal');
}

function parseDistances(text = ''): readonly number[] {
  if (text.trim() === '') return [];
  return text
    .trim()
    .split(' ')
    .map((distance) => {
      if (!/^\d+$/.test(distance)) throw new SystemError(`cannot convert ${distance} to int`);
      return Number(distance);
    });
}

function parseHugePages(files: MachineFiles, directory: string): readonly HugePages[] {
  return files.list(directory).flatMap((name) => {
    const pageSizeKib = /^[^-]*-(\d+)kB/.exec(name)?.[1];
    if (pageSizeKib === undefined) return [];
    const pages = readNumber(files, `${directory}/${name}/nr_hugepages`);
    if (pages === undefined) throw new SystemError(`could not parse file nr_hugepage for ${name}`);
    return [{pageSizeKib: Number(pageSizeKib), pages}];
  });
}

/** Counts different ids in /proc/cpuinfo, or in the directories of the CPUs if it has none. */
function countIds(files: MachineFiles, key: string, file: string): number {
  const cpuinfo = files.read('/proc/cpuinfo') ?? '';
  const found = new Set(cpuinfo.match(new RegExp(`^${key}\\s*:\\s*[0-9]+$`, 'gm')) ?? []);
  if (found.size > 0) return found.size;
  const ids = listNumbered(files, CPUS_DIR, 'cpu')
    .filter((cpu) => isOnline(files, cpu))
    .map((cpu) => [file, 'physical_package_id'].map((name) => readCoreId(files, cpu, name) ?? 0).join('_'));
  return new Set(ids).size;
}
