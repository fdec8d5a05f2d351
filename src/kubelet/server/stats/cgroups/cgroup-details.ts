import {nextIteration} from '../../../../base/async/next-iteration.js';
import type {ContainerStats, MemoryUsage, PsiStats} from '../../../../cri/index.js';
import {parseBytes} from '../../../managers/cgroups/cgroup-files.js';
import {podCgroupPaths, type CgroupPaths} from '../measured-cgroups.js';
import type {ContainerUsage, PodUsage} from '../usage-reader.js';
import {CgroupReader} from './cgroup-reader.js';

/** Options of {@link addCgroupDetails}. */
export interface CgroupDetailsOptions extends Pick<CgroupPaths, 'cgroup' | 'pods'> {
  /** Mount point of the cgroup filesystems; undefined if they are not read. */
  readonly cgroupMount: string | undefined;
}

/** Values of a cgroup that some runtimes report differently or not at all. */
interface CgroupDetails {
  readonly pressure: Readonly<Record<'cpu' | 'memory' | 'io', PsiStats>>;
  /** Limits in bytes; undefined for none. */
  readonly memoryLimit: bigint | undefined;
  readonly swapLimit: bigint | undefined;
  /** Number of processes in the cgroup itself. */
  readonly processes: number;
}

/**
 * Adds what a kubelet, which reads the cgroups itself, reports besides the runtime's values: the pressure, the memory and
 * swap that is left of a limit, and the processes of the containers of a pod. Leaves pods of other clients, and those without
 * cgroups, as they are. Rejects with SystemError.
 */
export async function addCgroupDetails(
  pods: readonly PodUsage[],
  options: CgroupDetailsOptions,
): Promise<readonly PodUsage[]> {
  const {cgroupMount: mount, cgroup} = options;
  if (mount === undefined) return pods;
  const added: PodUsage[] = [];
  for (const pod of pods) {
    const paths = podCgroupPaths(pod.ref.uid, options);
    const read = (path: string) => readDetails(new CgroupReader(mount, cgroup.version, path), cgroup.version);
    added.push(
      paths === undefined ? pod : withDetails(pod, read(paths.pod), (id) => read(paths.ofContainer(id))),
    );
    // Other requests are processed in between.
    await nextIteration();
  }
  return added;
}

/** Returns the details of a cgroup; undefined if it does not exist. */
function readDetails(files: CgroupReader, version: 1 | 2): CgroupDetails | undefined {
  const [memory, swap] =
    version === 2
      ? ['memory.max', 'memory.swap.max']
      : ['memory.limit_in_bytes', 'memory.memsw.limit_in_bytes'];
  const limit = files.text('memory', memory);
  if (limit === '') return undefined;
  const pressure = (resource: string): PsiStats =>
    (version === 2 ? files.pressure(`${resource}.pressure`) : undefined) ?? {};
  return {
    pressure: {cpu: pressure('cpu'), memory: pressure('memory'), io: pressure('io')},
    memoryLimit: parseBytes(limit),
    swapLimit: parseBytes(files.text('memory', swap)),
    processes: files.text('pids', 'cgroup.procs').split('\n').filter(Boolean).length,
  };
}

function withDetails(
  pod: PodUsage,
  own: CgroupDetails | undefined,
  detailsOf: (id: string) => CgroupDetails | undefined,
): PodUsage {
  const containers = pod.containers.map((container) => ({
    container,
    details: detailsOf(container.stats.attributes?.id ?? ''),
  }));
  const counts = containers.map(({details}) => details?.processes);
  return {
    ...pod,
    ...(own && describedUsage(pod, own)),
    containers: containers.map(({container, details}) => withContainerDetails(container, details)),
    processCount: counts.includes(undefined)
      ? pod.processCount
      : BigInt(counts.reduce((sum: number, count = 0) => sum + count, 0)),
  };
}

function withContainerDetails(container: ContainerUsage, details: CgroupDetails | undefined): ContainerUsage {
  const {stats} = container;
  if (details === undefined) return container;
  const {swap, cpu} = stats;
  const {value: used} = swap?.swapUsageBytes ?? {value: 0n};
  const timestamp = swap?.timestamp ?? cpu?.timestamp;
  const swapAvailableBytes = left(details.swapLimit, used);
  return {
    ...container,
    stats: {
      ...stats,
      ...describedUsage(stats, details),
      ...(timestamp !== undefined && {
        swap: {timestamp, swapUsageBytes: {value: used}, ...(swapAvailableBytes && {swapAvailableBytes})},
      }),
    },
  };
}

/** Returns usage with its pressure, and with the available memory of a cgroup with a limit. */
function describedUsage(
  {cpu, memory, io}: Pick<ContainerStats, 'cpu' | 'memory' | 'io'>,
  details: CgroupDetails,
): Pick<ContainerStats, 'cpu' | 'memory' | 'io'> {
  const timestamp = io?.timestamp ?? cpu?.timestamp;
  const {pressure} = details;
  return {
    cpu: cpu && {...cpu, psi: cpu.psi ?? pressure.cpu},
    memory: memory && describedMemory(memory, details),
    io: timestamp === undefined ? io : {...io, timestamp, psi: io?.psi ?? pressure.io},
  };
}

function describedMemory(memory: MemoryUsage, {memoryLimit, pressure}: CgroupDetails): MemoryUsage {
  const availableBytes = left(memoryLimit, memory.workingSetBytes?.value ?? 0n);
  return {...memory, availableBytes, psi: memory.psi ?? pressure.memory};
}

/** Returns what is left of a limit; undefined without one. */
function left(limit: bigint | undefined, used: bigint): {readonly value: bigint} | undefined {
  if (limit === undefined) return undefined;
  return {value: limit > used ? limit - used : 0n};
}
