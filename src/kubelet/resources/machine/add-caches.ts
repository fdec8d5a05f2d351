import {isDeepStrictEqual} from 'node:util';
import type {CpuCache, MachineCore, NumaNode} from '../../contract/resources/machine.js';
import {countMembers} from '../bit-set.js';
import {CPUS_DIR, readNumber, type MachineFiles} from './machine-files.js';

/** A cache and the number of CPUs that share it. */
interface SharedCache {
  readonly cache: CpuCache;
  readonly cpus: number;
}

/**
 * Returns the cores of a NUMA node with their caches, and the caches of the node (sysinfo.addCacheInfo). Caches that cannot be
 * read end the search.
 */
export function addCaches(
  files: MachineFiles,
  cores: readonly MachineCore[],
): Pick<NumaNode, 'cores' | 'caches'> {
  const nodeCaches: CpuCache[] = [];
  const withCaches: MachineCore[] = [];
  for (const core of cores) {
    const shared = readCaches(files, core.threads[0] ?? 0);
    if (shared === undefined) break;
    const threads = core.threads.length;
    const upper = shared.filter(({cache}) => cache.level > 2);
    const isOfNode = ({cpus}: SharedCache): boolean => cpus === cores.length * threads;
    addNew(nodeCaches, upper.filter(isOfNode));
    const uncoreCaches: CpuCache[] = [];
    addNew(
      uncoreCaches,
      upper.filter((each) => !isOfNode(each)),
    );
    const caches = shared.filter(({cache, cpus}) => cache.level <= 2 && cpus === threads);
    withCaches.push({...core, caches: caches.map(({cache}) => cache), uncoreCaches});
  }
  return {cores: [...withCaches, ...cores.slice(withCaches.length)], caches: nodeCaches};
}

function addNew(known: CpuCache[], found: readonly SharedCache[]): void {
  for (const {cache} of found) if (!known.some((each) => isDeepStrictEqual(each, cache))) known.push(cache);
}

/** Returns the caches of a CPU; undefined if one of them cannot be read, as without ids. */
function readCaches(files: MachineFiles, cpu: number): readonly SharedCache[] | undefined {
  const directory = `${CPUS_DIR}/cpu${cpu}/cache`;
  const names = files.list(directory).filter((name) => name.startsWith('index'));
  const caches = names.map((name) => readCache(files, `${directory}/${name}`));
  return names.length === 0 || caches.includes(undefined)
    ? undefined
    : caches.filter((cache) => cache !== undefined);
}

function readCache(files: MachineFiles, directory: string): SharedCache | undefined {
  const [id, size, level] = ['id', 'size', 'level'].map((name) => readNumber(files, `${directory}/${name}`));
  const [type, map] = ['type', 'shared_cpu_map'].map((name) => files.read(`${directory}/${name}`)?.trim());
  const words = map?.split(',') ?? [];
  if (id === undefined || size === undefined || level === undefined || type === undefined) return undefined;
  if (words.length === 0 || words.some((word) => !/^[0-9a-f]+$/i.test(word.trim()))) return undefined;
  const cpus = words.reduce((count, word) => count + countMembers(BigInt(`0x${word.trim()}`)), 0);
  return {cache: {id, sizeBytes: size * 1024, type, level}, cpus};
}
