import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {temporaryDirectory} from '../base/temporary-directory.js';

/** Files of a cgroup v2 with a CPU limit of 0.5, a memory limit of 64 MiB, and some usage. */
const V2: Readonly<Record<string, string>> = {
  'cgroup.events': 'populated 1\nfrozen 0\n',
  'cgroup.procs': '1\n2147483646\n',
  'cpu.stat':
    'usage_usec 3000000\nuser_usec 2000000\nsystem_usec 1000000\nnr_periods 40\nnr_throttled 4\nthrottled_usec 250000\nnr_bursts 1\nburst_usec 500\n',
  'cpu.weight': '20\n',
  'cpu.max': '50000 100000\n',
  'cpu.pressure': 'some avg10=1.00 avg60=0.50 avg300=0.10 total=1500000\n',
  'memory.current': '10000\n',
  'memory.peak': '20000\n',
  'memory.max': '67108864\n',
  'memory.swap.max': 'max\n',
  'memory.swap.current': '0\n',
  'memory.min': '4096\n',
  'memory.stat':
    'anon 5000\nfile 4000\nfile_mapped 300\ninactive_file 1000\nactive_file 3000\npgfault 70\npgmajfault 7\n',
  'memory.events': 'low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\n',
  'pids.current': '5\n',
  'pids.max': '100\n',
  'io.stat': '8:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n',
};

/** Files of the same cgroup with cgroup v1, by hierarchy. */
const V1: Readonly<Record<string, string>> = {
  'cpu/cgroup.clone_children': '0\n',
  'cpu/cpu.stat': 'nr_periods 40\nnr_throttled 4\nthrottled_time 250000000\nnr_bursts 1\nburst_time 500000\n',
  'cpu/cpu.shares': '512\n',
  'cpu/cpu.cfs_quota_us': '50000\n',
  'cpu/cpu.cfs_period_us': '100000\n',
  'cpuacct/cpuacct.usage': '3000000000\n',
  'cpuacct/cpuacct.stat': 'user 200\nsystem 100\n',
  'memory/memory.usage_in_bytes': '10000\n',
  'memory/memory.max_usage_in_bytes': '20000\n',
  'memory/memory.limit_in_bytes': '67108864\n',
  'memory/memory.memsw.limit_in_bytes': '9223372036854771712\n',
  'memory/memory.soft_limit_in_bytes': '4096\n',
  'memory/memory.kmem.usage_in_bytes': '600\n',
  'memory/memory.failcnt': '9\n',
  'memory/memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 1\n',
  'memory/memory.stat':
    'cache 1\nrss 2\npgfault 70\npgmajfault 7\ntotal_cache 4000\ntotal_rss 5000\ntotal_swap 0\ntotal_mapped_file 300\ntotal_inactive_file 1000\ntotal_active_file 3000\n',
  'pids/cgroup.procs': '1\n2147483646\n',
  'pids/pids.current': '5\n',
  'pids/pids.max': '100\n',
  'blkio/blkio.throttle.io_service_bytes_recursive': '8:0 Read 4096\n8:0 Write 8192\nTotal 12288\n',
  'blkio/blkio.throttle.io_serviced_recursive': '8:0 Read 1\n8:0 Write 2\nTotal 3\n',
};

/**
 * Creates cgroups with equal usage and returns the mount of their hierarchies. `files` replaces the content of some of V1 and V2.
 */
export async function aCgroupTree(
  version: 1 | 2,
  paths: readonly string[],
  files: Readonly<Record<string, string>> = {},
): Promise<string> {
  const mount = await temporaryDirectory();
  for (const path of paths)
    for (const [name, text] of Object.entries(version === 2 ? V2 : V1)) {
      const file = version === 2 ? join(mount, path, name) : join(mount, name.replace('/', `${path}/`));
      await mkdir(join(file, '..'), {recursive: true});
      await writeFile(file, files[name] ?? text);
    }
  return mount;
}
