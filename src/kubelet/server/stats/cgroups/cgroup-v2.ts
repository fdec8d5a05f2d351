import {parseQuota} from '../../../managers/cgroups/cgroup-files.js';
import {devicePath, type CgroupReader} from './cgroup-reader.js';
import type {CgroupCpu, CgroupDisk, CgroupMemory, CgroupUsage} from './cgroup-usage.js';

const NANOS_PER_MICRO = 1000n;

/** Reads CPU, memory and disk I/O of a cgroup v2. */
export function readCgroupV2(
  files: CgroupReader,
): Pick<CgroupUsage, 'cpu' | 'memory' | 'disks' | 'ioPressure'> {
  return {
    cpu: readCpu(files),
    memory: readMemory(files),
    disks: parseIoStat(files.text('blkio', 'io.stat')),
    ioPressure: files.pressure('io.pressure'),
  };
}

function readCpu(files: CgroupReader): CgroupCpu | undefined {
  const stat = files.table('cpu', 'cpu.stat');
  if (stat === undefined) return undefined;
  const nanos = (name: string): bigint => (stat.get(name) ?? 0n) * NANOS_PER_MICRO;
  const {quota = -1n, period = 0n} = parseQuota(files.text('cpu', 'cpu.max')) ?? {};
  const weight = files.number('cpu', 'cpu.weight');
  return {
    usageNanos: nanos('usage_usec'),
    userNanos: nanos('user_usec'),
    systemNanos: nanos('system_usec'),
    periods: stat.get('nr_periods') ?? 0n,
    throttledPeriods: stat.get('nr_throttled') ?? 0n,
    throttledNanos: nanos('throttled_usec'),
    burstPeriods: stat.get('nr_bursts') ?? 0n,
    burstNanos: nanos('burst_usec'),
    // cAdvisor's conversion (convertCPUWeightToCPULimit) differs from that of the kubelet.
    shares: weight === 0n ? 0n : 2n + ((weight - 1n) * 262_142n) / 9999n,
    quota: quota < 0n ? undefined : quota,
    period,
    psi: files.pressure('cpu.pressure'),
  };
}

function readMemory(files: CgroupReader): CgroupMemory | undefined {
  const stat = files.table('memory', 'memory.stat');
  // The root has no memory.current.
  if (stat === undefined || files.text('memory', 'memory.current') === '') return undefined;
  const of = (name: string): bigint => stat.get(name) ?? 0n;
  const events = files.table('memory', 'memory.events');
  return {
    usage: files.number('memory', 'memory.current'),
    maxUsage: files.number('memory', 'memory.peak'),
    cache: of('file'),
    rss: of('anon'),
    swap: files.number('memory', 'memory.swap.current'),
    mappedFile: of('file_mapped'),
    kernelUsage: 0n,
    activeFile: of('active_file'),
    inactiveFile: of('inactive_file'),
    pageFaults: of('pgfault'),
    majorPageFaults: of('pgmajfault'),
    limitHits: events?.get('max') ?? 0n,
    oomKills: events?.get('oom_kill') ?? 0n,
    limit: files.number('memory', 'memory.max'),
    swapLimit: files.number('memory', 'memory.swap.max'),
    reservation: files.number('memory', 'memory.min'),
    psi: files.pressure('memory.pressure'),
  };
}

/** Parses io.stat: the numbers of a device and its counters in each line. */
function parseIoStat(text: string): readonly CgroupDisk[] {
  return text.split('\n').flatMap((line): readonly CgroupDisk[] => {
    const [numbers = '', ...counters] = line.split(' ');
    const values = new Map(counters.map((counter) => counter.split('=') as [string, string]));
    if (!values.has('rbytes')) return [];
    const of = (name: string): bigint => BigInt(values.get(name) ?? '0');
    const [readBytes, writtenBytes] = [of('rbytes'), of('wbytes')];
    return [
      {
        ...{device: devicePath(numbers), numbers, readBytes, writtenBytes},
        bytes: new Map([
          ['Read', readBytes],
          ['Write', writtenBytes],
        ]),
        ...{reads: of('rios'), writes: of('wios')},
      },
    ];
  });
}
