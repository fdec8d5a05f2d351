import {expect, test} from 'vitest';
import {aCgroupUsage} from '../../../../fakes/a-cgroup-usage.js';
import {collectCgroupMetrics} from '../../../../../src/kubelet/server/stats/cadvisor-metrics.js';
import {
  parseDiskActivities,
  readDeviceNumbers,
  readDiskActivities,
} from '../../../../../src/kubelet/server/stats/storage/disk-activity.js';

const TEXT = `   7       0 loop0 1 2 3 4 5 6 7 8 9 10 11 0 0 0 0 0 0
 254       0 vda 1067558 133173 24257154 3333897 4878612 3398170 187001144 4832135 2 2199336 10259598 3269016 10724
`;
const VDA = {
  ...{reads: 1_067_558, readsMerged: 133_173, sectorsRead: 24_257_154, readMs: 3_333_897},
  ...{writes: 4_878_612, writesMerged: 3_398_170, sectorsWritten: 187_001_144, writeMs: 4_832_135},
  ...{inProgress: 2, ioMs: 2_199_336, weightedIoMs: 10_259_598},
};

test('the activity of disks is known by their numbers', () => {
  const activities = parseDiskActivities(TEXT);
  expect([...activities.keys()]).toEqual(['7:0', '254:0']);
  expect(activities.get('254:0')).toEqual(VDA);
  expect(parseDiskActivities('')).toEqual(new Map());
});

test('the kernel reports the activity of the disks of this machine', async () => {
  for (const {ioMs} of (await readDiskActivities()).values()) expect(ioMs).toBeGreaterThanOrEqual(0);
});

test('a device has the numbers of its file, and none without one', async () => {
  expect(await readDeviceNumbers('/dev/null')).toBe('1:3');
  expect(await readDeviceNumbers('/nonexistent/device')).toBeUndefined();
});

test('the node has the activity of the disks of its file systems; those that its cgroup counts are not repeated', () => {
  const labels = {id: '/', name: '', image: '', container: '', pod: '', namespace: ''};
  const space = {limitBytes: 9n, usedBytes: 4n, inodes: 3n, inodesFree: 1n};
  const filesystems = [
    {...space, device: '/dev/vda', activity: VDA},
    {...space, device: '/dev/sda'},
  ];
  const kernel = aCgroupUsage();
  const valuesOf = (name: string, withDisk: boolean) =>
    collectCgroupMetrics([{labels, filesystems, kernel: withDisk ? {...kernel, disks: [DISK]} : kernel}])
      .find((family) => family.name === `container_fs_${name}`)
      ?.samples.map(({labels: {device}, value}) => [device, value]);
  expect(valuesOf('limit_bytes', false)).toEqual([
    ['/dev/vda', 9],
    ['/dev/sda', 9],
  ]);
  const single: readonly (readonly [string, number])[] = [
    ['io_current', 2],
    ['io_time_seconds_total', 2199.336],
    ['io_time_weighted_seconds_total', 10_259.598],
    ['read_seconds_total', 3333.897],
    ['write_seconds_total', 4832.135],
    ['reads_merged_total', 133_173],
    ['writes_merged_total', 3_398_170],
    ['sector_reads_total', 24_257_154],
    ['sector_writes_total', 187_001_144],
    ['reads_total', 1_067_558],
    ['writes_total', 4_878_612],
  ];
  for (const [name, value] of single) expect(valuesOf(name, false), name).toEqual([['/dev/vda', value]]);
  expect(valuesOf('reads_total', true)).toEqual([['/dev/vda', 7]]);
});

const DISK = {
  ...{device: '/dev/vda', numbers: '254:0', bytes: new Map<string, bigint>()},
  ...{readBytes: 0n, writtenBytes: 0n, reads: 7n, writes: 8n},
};
