import {join} from 'node:path';
import {readCheckpointFile} from '../../../resources/checkpoint/checkpoint.js';
import type {AllocatedDevice} from '../allocation/allocation-types.js';
import type {ClaimState} from '../core/claim-info.js';
import {DRA_CHECKPOINT, parseDraCheckpoint} from '../core/dra-checkpoint.js';

/** Devices that drivers have prepared for a claim. */
export interface PreparedClaim {
  readonly uid: string;
  readonly devices: readonly AllocatedDevice[];
}

/** Returns the devices of prepared claims that belong to one claim alone, as far as their drivers say. */
export function preparedClaims(
  claims: readonly Pick<ClaimState, 'uid' | 'drivers'>[],
): readonly PreparedClaim[] {
  return claims.map(({uid, drivers}) => ({
    uid,
    devices: [...drivers].flatMap(([driver, devices = []]) =>
      devices
        .filter(({shareId}) => shareId === undefined)
        .map(({poolName: pool, deviceName: device}) => ({driver, pool, device, request: ''})),
    ),
  }));
}

/** Reads what the last kubelet of a root directory has prepared. Rejects with SystemError if its checkpoint cannot be read. */
export async function readPreparedClaims(rootDir: string): Promise<readonly PreparedClaim[]> {
  const text = await readCheckpointFile(join(rootDir, DRA_CHECKPOINT));
  return text === undefined ? [] : preparedClaims(parseDraCheckpoint(text));
}
