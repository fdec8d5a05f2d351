import {counter, gauge, sampleOf, type CgroupMetric, type CgroupSample} from './cgroup-metric.js';
import type {MeasuredCgroup} from '../measured-cgroups.js';
import type {DiskActivity} from '../storage/disk-activity.js';
import type {NodeFilesystem} from '../storage/node-filesystems.js';

const MS = 1000;

/**
 * Metrics of the file systems of the node, and of the writable layers of containers. Times are in seconds, as their names say;
 * cAdvisor divides the kernel's milliseconds by 10^9.
 */
export const FILESYSTEM_METRICS: readonly CgroupMetric[] = [
  gauge('container_fs_inodes_used', 'Number of Inodes used by the container.', ({writableLayer: layer}) =>
    sampleOf(layer?.inodesUsed, layer?.timestamp, Number, {device: ''}),
  ),
  gauge(
    'container_fs_usage_bytes',
    'Number of bytes that are consumed by the container on this filesystem.',
    (cgroup) => [
      ...sampleOf(cgroup.writableLayer?.usedBytes, cgroup.writableLayer?.timestamp, Number, {device: ''}),
      ...filesystemSamples(cgroup, ({usedBytes}) => usedBytes),
    ],
  ),
  spaceGauge('inodes_free', 'Number of available Inodes', ({inodesFree}) => inodesFree),
  spaceGauge('inodes_total', 'Number of Inodes', ({inodes}) => inodes),
  spaceGauge(
    'limit_bytes',
    'Number of bytes that can be consumed by the container on this filesystem.',
    ({limitBytes}) => limitBytes,
  ),
  gauge('container_fs_io_current', 'Number of I/Os currently in progress', (cgroup) =>
    diskSamples(cgroup, ({inProgress}) => inProgress),
  ),
  diskCounter('io_time_seconds_total', 'Cumulative count of seconds spent doing I/Os', ({ioMs}) => ioMs / MS),
  diskCounter(
    'io_time_weighted_seconds_total',
    'Cumulative weighted I/O time in seconds',
    ({weightedIoMs}) => weightedIoMs / MS,
  ),
  diskCounter('read_seconds_total', 'Cumulative count of seconds spent reading', ({readMs}) => readMs / MS),
  diskCounter(
    'write_seconds_total',
    'Cumulative count of seconds spent writing',
    ({writeMs}) => writeMs / MS,
  ),
  diskCounter('reads_merged_total', 'Cumulative count of reads merged', ({readsMerged}) => readsMerged),
  diskCounter('writes_merged_total', 'Cumulative count of writes merged', ({writesMerged}) => writesMerged),
  diskCounter(
    'sector_reads_total',
    'Cumulative count of sector reads completed',
    ({sectorsRead}) => sectorsRead,
  ),
  diskCounter(
    'sector_writes_total',
    'Cumulative count of sector writes completed',
    ({sectorsWritten}) => sectorsWritten,
  ),
];

/** Returns a value of the disk of each file system of the node, except those devices. */
export function diskSamples(
  {filesystems = [], cpu}: MeasuredCgroup,
  read: (of: DiskActivity) => number,
  except: ReadonlySet<string> = new Set(),
): readonly CgroupSample[] {
  return filesystems.flatMap(({device, activity}) =>
    activity === undefined || except.has(device)
      ? []
      : sampleOf({value: 0n}, cpu?.timestamp, () => read(activity), {device}),
  );
}

/** Returns a gauge of the space of each file system of the node. */
function spaceGauge(name: string, help: string, read: (of: NodeFilesystem) => bigint): CgroupMetric {
  return gauge(`container_fs_${name}`, help, (cgroup) => filesystemSamples(cgroup, read));
}

function diskCounter(name: string, help: string, read: (of: DiskActivity) => number): CgroupMetric {
  return counter(`container_fs_${name}`, help, (cgroup) => diskSamples(cgroup, read));
}

function filesystemSamples(
  {filesystems = [], cpu}: MeasuredCgroup,
  read: (of: NodeFilesystem) => bigint,
): readonly CgroupSample[] {
  return filesystems.flatMap((each) =>
    sampleOf({value: read(each)}, cpu?.timestamp, Number, {device: each.device}),
  );
}
