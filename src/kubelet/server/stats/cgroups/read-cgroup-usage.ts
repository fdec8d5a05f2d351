import type {CgroupRoot} from '../../../resources/cgroup-root.js';
import {CgroupReader} from './cgroup-reader.js';
import type {CgroupUsage} from './cgroup-usage.js';
import {readCgroupV1} from './cgroup-v1.js';
import {readCgroupV2} from './cgroup-v2.js';

/**
 * Reads the usage of a cgroup, as cAdvisor does (container/libcontainer, container/common getSpecInternal); undefined if
 * the cgroup does not exist. Synchronous, because the files are in memory and there are about 20 for each cgroup.
 *
 * @throws SystemError if a file cannot be read.
 */
export function readCgroupUsage(
  {mount, version}: Pick<CgroupRoot, 'mount' | 'version'>,
  path: string,
  nowMs: number,
): CgroupUsage | undefined {
  const files = new CgroupReader(mount, version, path);
  const createdAtMs = files.createdAtMs();
  if (createdAtMs === undefined) return undefined;
  return {
    timeNanos: BigInt(nowMs) * 1_000_000n,
    createdAtNanos: BigInt(Math.round(createdAtMs * 1000)) * 1000n,
    ...(version === 2 ? readCgroupV2(files) : readCgroupV1(files)),
    pids: files.text('pids', 'cgroup.procs').split('\n').filter(Boolean),
    threads: files.number('pids', 'pids.current'),
    maxThreads: files.number('pids', 'pids.max'),
  };
}
