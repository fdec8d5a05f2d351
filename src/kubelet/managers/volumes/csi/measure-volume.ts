import type {MessageTypes} from '../../../../plugin-api/gen/csi/types.js';
import type {DriverUsage} from '../../../contract/volumes/driver-usage.js';
import type {CsiDrivers} from './csi-drivers.js';
import {readVolumeData} from './volume-data.js';

/**
 * Asks the driver of a published volume for its usage; undefined if the driver does not measure volumes, or has not
 * measured this one (metricsCsi GetMetrics). `dataDir` has the identity of the volume. Rejects with SystemError, such as
 * after the deadline of a call, and with the signal's reason.
 */
export async function measureVolume(
  {path, dataDir}: {readonly path: string; readonly dataDir: string},
  drivers: Pick<CsiDrivers, 'client'>,
  signal: AbortSignal,
): Promise<DriverUsage | undefined> {
  const data = await readVolumeData(dataDir);
  if (data === undefined) return undefined;
  const client = drivers.client(data.driverName, 'failed to get CSI client');
  if (!(await client.capabilities(signal)).has('GET_VOLUME_STATS')) return undefined;
  return toUsage(await client.stats({volumeId: data.volumeHandle, volumePath: path}, signal));
}

/** Returns the usage in a driver's answer; of several values of one unit the last. Negative numbers are 0. */
export function toUsage({usage}: MessageTypes['NodeGetVolumeStatsResponse']): DriverUsage | undefined {
  if (usage.length === 0) return undefined;
  const find = (unit: 'BYTES' | 'INODES', field: 'used' | 'available' | 'total'): bigint => {
    const value = usage.findLast((each) => each.unit === unit)?.[field] ?? 0n;
    return value < 0n ? 0n : value;
  };
  return {
    usedBytes: find('BYTES', 'used'),
    availableBytes: find('BYTES', 'available'),
    capacityBytes: find('BYTES', 'total'),
    inodesUsed: find('INODES', 'used'),
    inodesFree: find('INODES', 'available'),
    inodes: find('INODES', 'total'),
  };
}
