import {parseBytes, parseQuota} from '../../../managers/cgroups/cgroup-files.js';
import {devicePath, type CgroupReader} from './cgroup-reader.js';
import type {CgroupCpu, CgroupDisk, CgroupMemory, CgroupUsage} from './cgroup-usage.js';

/** Length of a clock tick (USER_HZ), in which cpuacct.stat counts. */
const NANOS_PER_TICK = 10_000_000n;

/** Reads CPU, memory and disk I/O of a cgroup v1. */
export function readCgroupV1(
  files: CgroupReader,
): Pick<CgroupUsage, 'cpu' | 'memory' | 'disks' | 'ioPressure'> {
  return {cpu: readCpu(files), memory: readMemory(files), disks: readDisks(files), ioPressure: undefined};
}

function readCpu(files: CgroupReader): CgroupCpu | undefined {
  const usage = files.text('cpuacct', 'cpuacct.usage');
  if (usage === '') return undefined;
  const ticks = numbersOf(files.table('cpuacct', 'cpuacct.stat'));
  const stat = numbersOf(files.table('cpu', 'cpu.stat'));
  const limits = [files.text('cpu', 'cpu.cfs_quota_us'), files.text('cpu', 'cpu.cfs_period_us')];
  const {quota = -1n, period = 0n} = parseQuota(limits.join(' ')) ?? {};
  return {
    usageNanos: BigInt(usage.trim()),
    userNanos: ticks('user') * NANOS_PER_TICK,
    systemNanos: ticks('system') * NANOS_PER_TICK,
    periods: stat('nr_periods'),
    throttledPeriods: stat('nr_throttled'),
    throttledNanos: stat('throttled_time'),
    burstPeriods: stat('nr_bursts'),
    burstNanos: stat('burst_time'),
    shares: files.number('cpu', 'cpu.shares'),
    quota: quota < 0n ? undefined : quota,
    period,
    psi: undefined,
  };
}

/** Returns a function that looks up a number, which is 0 if it is missing. */
function numbersOf(table: ReadonlyMap<string, bigint> | undefined): (name: string) => bigint {
  return (name) => table?.get(name) ?? 0n;
}

function readMemory(files: CgroupReader): CgroupMemory | undefined {
  const stat = files.table('memory', 'memory.stat');
  if (stat === undefined) return undefined;
  // Without a hierarchy, the totals of children are those of the cgroup itself.
  const of = (name: string): bigint => stat.get(`total_${name}`) ?? stat.get(name) ?? 0n;
  const limit = (file: string): bigint => parseBytes(files.text('memory', file)) ?? 0n;
  return {
    usage: files.number('memory', 'memory.usage_in_bytes'),
    maxUsage: files.number('memory', 'memory.max_usage_in_bytes'),
    cache: of('cache'),
    rss: of('rss'),
    swap: of('swap'),
    mappedFile: of('mapped_file'),
    kernelUsage: files.number('memory', 'memory.kmem.usage_in_bytes'),
    activeFile: of('active_file'),
    inactiveFile: of('inactive_file'),
    pageFaults: stat.get('pgfault') ?? 0n,
    majorPageFaults: stat.get('pgmajfault') ?? 0n,
    limitHits: files.number('memory', 'memory.failcnt'),
    oomKills: files.table('memory', 'memory.oom_control')?.get('oom_kill') ?? 0n,
    limit: limit('memory.limit_in_bytes'),
    swapLimit: limit('memory.memsw.limit_in_bytes'),
    reservation: limit('memory.soft_limit_in_bytes'),
    psi: undefined,
  };
}

/** Reads the I/O of each device: of the BFQ scheduler if it counts, or else of the throttling layer, as runc does. */
function readDisks(files: CgroupReader): readonly CgroupDisk[] {
  for (const layer of ['bfq.', 'throttle.']) {
    const bytes = parseCounters(files.text('blkio', `blkio.${layer}io_service_bytes_recursive`));
    if (bytes.size === 0) continue;
    const operations = parseCounters(files.text('blkio', `blkio.${layer}io_serviced_recursive`));
    return [...bytes].map(([numbers, each]) => ({
      device: devicePath(numbers),
      numbers,
      bytes: each,
      readBytes: each.get('Read') ?? 0n,
      writtenBytes: each.get('Write') ?? 0n,
      reads: operations.get(numbers)?.get('Read') ?? 0n,
      writes: operations.get(numbers)?.get('Write') ?? 0n,
    }));
  }
  return [];
}

/** Parses lines such as `8:0 Read 4096` into counters by device; ignores the total. */
function parseCounters(text: string): ReadonlyMap<string, ReadonlyMap<string, bigint>> {
  const devices = new Map<string, Map<string, bigint>>();
  for (const [, numbers = '', operation = '', count = '0'] of text.matchAll(/^(\d+:\d+) (\w+) (\d+)$/gm)) {
    const counters = devices.get(numbers) ?? new Map<string, bigint>();
    devices.set(numbers, counters.set(operation, BigInt(count)));
  }
  return devices;
}
