import type {FilesystemUsage, ImageFsInfoResponse} from '../../cri/index.js';
import {humanSize} from '../../format/human-size.js';

/** Formats the filesystems as `crictl imagefsinfo -o table` does. */
export function crictlFilesystemLines(info: ImageFsInfoResponse): string {
  return (
    filesystemLines('Container', info.containerFilesystems) + filesystemLines('Image', info.imageFilesystems)
  );
}

function filesystemLines(label: string, filesystems: readonly FilesystemUsage[]): string {
  const lines = filesystems.flatMap(({timestamp, usedBytes, inodesUsed, fsId}, index) => [
    `TimeStamp[${index}]: ${timestamp}`,
    `Disk[${index}]: ${humanSize(usedBytes?.value ?? 0n)}`,
    `Inodes[${index}]: ${inodesUsed?.value ?? 0n}`,
    `Mountpoint[${index}]: ${fsId?.mountpoint ?? ''}`,
  ]);
  return [`${label} Filesystem `, ...lines].map((line) => `${line}\n`).join('');
}
