import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {parseOomKills, readKernelLog} from '../../../../src/features/why/snapshot/kernel-log.js';
import {LOCAL_FILES} from '../../../../src/features/why/snapshot/node-files.js';
import {cgroupFilesOf, parseCpu, parseMemory} from '../../../../src/features/why/snapshot/parse-cgroup.js';
import {
  parseListeningPorts,
  parseProcessStatus,
  parseStack,
} from '../../../../src/features/why/snapshot/parse-process.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {ID} from '../a-snapshot.js';

const BOOT = Date.parse('2026-11-27T12:00:00Z');
const POD = `/kubepods/burstable/pod8c816fc9`;

/** Records of one OOM kill as Linux writes them, a second after another. */
function records(...lines: readonly string[]) {
  return lines.map((text, index) => ({micros: index * 1e6, text}));
}

const INVOKED = 'sh invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=999';
const USAGE = 'memory: usage 32768kB, limit 65536kB, failcnt 163';
const TASKS = [
  'Tasks state (memory values in pages):',
  '[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents oom_score_adj name',
  '[  25789] 65535 25789       42        0        0        0         0    24576        0             0 pause',
  '[  27767]     0 27767    11704     8332     7936      396         0   114688        0           999 sh',
  '[  27788]     0 27788      567      279        0      279         0    40960        0           999 head',
];
const KILL = `oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x,mems_allowed=0,oom_memcg=${POD},task_memcg=${POD}/${ID},task=sh,pid=27767,uid=0`;
const KILLED =
  'Memory cgroup out of memory: Killed process 27767 (sh) total-vm:46816kB, anon-rss:31744kB, file-rss:1584kB, shmem-rss:0kB, UID:0 pgtables:112kB oom_score_adj:999';

test('an OOM kill is read with limit, usage and number of processes', () => {
  expect(parseOomKills(records(INVOKED, USAGE, ...TASKS, KILL, KILLED), BOOT)).toEqual([
    {
      at: '2026-11-27T12:00:08.000Z',
      containerId: ID,
      process: 'sh',
      residentBytes: 31744 * 1024,
      limit: 65536 * 1024,
      usage: 32768 * 1024,
      processes: 2,
    },
  ]);
});

test('a kill without the usage of a cgroup is one of the node, and others are not of containers', () => {
  const ofNode = KILL.replace('CONSTRAINT_MEMCG', 'CONSTRAINT_NONE');
  const found = parseOomKills(records(INVOKED, USAGE, KILL, KILLED, INVOKED, ofNode, KILLED), BOOT);
  expect(found.map(({limit}) => limit)).toEqual([65536 * 1024, undefined]);
  expect(parseOomKills(records(INVOKED, KILL.replace(ID, 'user.slice'), KILLED), BOOT)).toEqual([]);
});

test('the log of the kernel is read to its end', async () => {
  const path = join(await temporaryDirectory(), 'kmsg');
  await writeFile(path, '3,49611,61025399569,-;Memory cgroup out of memory\n SUBSYSTEM=x\n');
  expect(readKernelLog(path)).toEqual([{micros: 61_025_399_569, text: 'Memory cgroup out of memory'}]);
});

test('a file of the kernel is read up to a limit', async () => {
  const path = join(await temporaryDirectory(), 'file');
  await writeFile(path, 'x'.repeat(100));
  expect(await LOCAL_FILES.read(path, 10)).toBe('x'.repeat(10));
  expect(await LOCAL_FILES.read('/proc/self/stat')).toMatch(/^\d+ \(/);
});

test.each([
  ['4:memory:/a/b\n1:cpu,cpuacct:/c\n0::/u\n', '/m/memory/a/b/memory.limit_in_bytes', '/m/cpu/c/cpu.stat'],
  ['0::/kubepods/pod1/x\n', '/m/kubepods/pod1/x/memory.max', '/m/kubepods/pod1/x/cpu.stat'],
])('the cgroup %j has its files', (text, memoryLimit, cpuStat) => {
  expect(cgroupFilesOf('/m', text)).toMatchObject({memoryLimit, cpuStat});
});

test('a process without a cgroup has no files', () => {
  expect(cgroupFilesOf('/m', '')).toBeUndefined();
});

test('the memory of a cgroup counts without what can be reclaimed', () => {
  const texts = {memoryLimit: '1000\n', memoryUsage: '900\n', memoryStat: 'anon 1\ninactive_file 300\n'};
  expect(parseMemory(texts, 'inactive_file', '950\n')).toEqual({limit: 1000, workingSet: 600, peak: 950});
  expect(parseMemory(texts, 'inactive_file', '')).toEqual({limit: 1000, workingSet: 600});
  for (const memoryLimit of ['max\n', '9223372036854771712\n'])
    expect(parseMemory({...texts, memoryLimit}, 'inactive_file', '')).toBeUndefined();
});

test('the periods of a CPU limit are read; without a limit there are none', () => {
  expect(parseCpu('nr_periods 10\nnr_throttled 4\nthrottled_time 5\n')).toEqual({
    periods: 10,
    throttledPeriods: 4,
  });
  expect(parseCpu('usage_usec 5\nnr_periods 0\nnr_throttled 0\n')).toBeUndefined();
});

test.each([
  // 0x4000 is SIGTERM.
  {what: 'handles it', nsPid: '9\t1', ignored: '0', caught: '4000', ignores: false},
  {what: 'ignores it', nsPid: '9\t7', ignored: '4000', caught: '0', ignores: true},
  {what: 'is the first of its namespace', nsPid: '9\t1', ignored: '0', caught: '0', ignores: true},
  {what: 'is not the first of its namespace', nsPid: '9\t7', ignored: '0', caught: '0', ignores: false},
])('a process that $what: SIGTERM has no effect: $ignores', ({nsPid, ignored, caught, ignores}) => {
  const pad = (mask: string): string => mask.padStart(16, '0');
  const status = `Name:\tx\nState:\tD (disk sleep)\nNSpid:\t${nsPid}\nSigIgn:\t${pad(ignored)}\nSigCgt:\t${pad(caught)}\n`;
  expect(parseProcessStatus(9, status, 'nfs_wait')).toEqual({
    pid: 9,
    state: 'D',
    sleepsIn: 'nfs_wait',
    ignoresTerm: ignores,
  });
});

test('ports of sockets that listen are read from both tables', () => {
  const header = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n';
  const tcp = `${header}   0: 00000000:1F91 00000000:0000 0A 0\n   1: 0100007F:1F90 0100007F:D431 01 0\n`;
  const tcp6 = `${header}   0: 00000000000000000000000000000000:0050 0:0000 0A 0\n`;
  expect(parseListeningPorts(tcp, tcp6)).toEqual([80, 8081]);
});

test('the functions of a stack in the kernel', () => {
  const text = '[<0>] rpc_wait_bit_killable+0x1a/0x50 [sunrpc]\n[<0>] __wait_on_bit+0x5f/0xa0\n';
  expect(parseStack(text)).toEqual(['rpc_wait_bit_killable', '__wait_on_bit']);
  expect(parseStack('')).toEqual([]);
});
