import type {FilesystemUsage, ImageFsInfoResponse} from '../../cri/index.js';
import {humanAgo} from '../../format/duration.js';
import {humanSize} from '../../format/human-size.js';
import type {Column} from '../../format/table.js';

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly imagefsinfo: (info: ImageFsInfoResponse, nowMs: number) => string;
  }
}

/** Filesystem and its usage by the runtime. */
export interface FilesystemRow {
  readonly holds: 'images' | 'containers';
  readonly usage: FilesystemUsage;
}

/** Returns the rows of `imagefsinfo -o table`. */
export function filesystemRows(info: ImageFsInfoResponse): readonly FilesystemRow[] {
  return [
    ...info.imageFilesystems.map((usage) => ({holds: 'images', usage}) as const),
    ...info.containerFilesystems.map((usage) => ({holds: 'containers', usage}) as const),
  ];
}

/** Returns the columns of `imagefsinfo -o table`. */
export function filesystemColumns(nowMs: number): readonly Column<FilesystemRow>[] {
  return [
    {header: 'HOLDS', value: ({holds}) => holds},
    {header: 'USED', value: ({usage}) => humanSize(usage.usedBytes?.value ?? 0n)},
    {header: 'INODES', value: ({usage}) => String(usage.inodesUsed?.value ?? 0n)},
    {header: 'MEASURED', value: ({usage}) => humanAgo(usage.timestamp, nowMs)},
    {header: 'MOUNTPOINT', value: ({usage}) => usage.fsId?.mountpoint ?? ''},
  ];
}
