import {readFile, stat} from 'node:fs/promises';
import {isSystemCallError} from '../../../../base/errors.js';
import {deviceNumbers} from '../../../../base/fs/device-numbers.js';

/** Counters of a block device since the start of the machine (Documentation/admin-guide/iostats.rst). */
export interface DiskActivity {
  readonly reads: number;
  readonly readsMerged: number;
  readonly sectorsRead: number;
  readonly readMs: number;
  readonly writes: number;
  readonly writesMerged: number;
  readonly sectorsWritten: number;
  readonly writeMs: number;
  readonly inProgress: number;
  readonly ioMs: number;
  readonly weightedIoMs: number;
}

/** Activity of the block devices of the node, by their numbers, such as 8:0. */
export type DiskActivities = ReadonlyMap<string, DiskActivity>;

/** Reads the activity of all devices; none if the kernel does not report it. */
export async function readDiskActivities(): Promise<DiskActivities> {
  return parseDiskActivities((await unlessRefused(() => readFile('/proc/diskstats', 'utf8'))) ?? '');
}

/** Parses /proc/diskstats. */
export function parseDiskActivities(text: string): DiskActivities {
  return new Map(
    text.split('\n').flatMap((line): readonly (readonly [string, DiskActivity])[] => {
      const [major, minor, name, ...counters] = line.trim().split(/\s+/);
      if (name === undefined) return [];
      const at = (index: number): number => Number(counters[index] ?? 0);
      return [
        [
          `${major}:${minor}`,
          {
            ...{reads: at(0), readsMerged: at(1), sectorsRead: at(2), readMs: at(3)},
            ...{writes: at(4), writesMerged: at(5), sectorsWritten: at(6), writeMs: at(7)},
            ...{inProgress: at(8), ioMs: at(9), weightedIoMs: at(10)},
          },
        ],
      ];
    }),
  );
}

/** Returns the numbers of a device, such as 8:0 (makedev(3)); undefined if its file does not exist. */
export async function readDeviceNumbers(device: string): Promise<string | undefined> {
  const found = await unlessRefused(() => stat(device, {bigint: true}));
  return found && deviceNumbers(found.rdev);
}

async function unlessRefused<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isSystemCallError(error)) return undefined;
    throw error;
  }
}
