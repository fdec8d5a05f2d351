import {SystemError} from '../../../../base/errors.js';
import type {CsiClaims} from '../../../contract/volumes/csi-cluster.js';
import type {ClaimRef, ResizedClaim, ResizedClaimStatus} from '../../../contract/volumes/resized-claim.js';
import {
  claimKey,
  claimSizeOf,
  ProvisionedVolumeStore,
  type ProvisionedVolume,
} from './provisioned-volume-store.js';

/** Claims whose volumes were created without a cluster; their statuses are stored with the volumes. */
export class ProvisionedClaims implements CsiClaims {
  readonly #store: ProvisionedVolumeStore;

  constructor(rootDir: string) {
    this.#store = new ProvisionedVolumeStore(rootDir);
  }

  async claim(ref: ClaimRef): Promise<ResizedClaim> {
    return toClaim(ref, await this.#find(ref));
  }

  async patchClaim(
    {metadata}: ResizedClaim,
    {status, isForced}: {readonly status: ResizedClaimStatus; readonly isForced: boolean},
    signal: AbortSignal,
  ): Promise<ResizedClaim> {
    await using _lock = await this.#store.lockClaim(claimKey(metadata), signal);
    const record = await this.#find(metadata);
    if (!isForced && toClaim(metadata, record).metadata.resourceVersion !== metadata.resourceVersion)
      throw new SystemError(`the status of the claim "${claimKey(metadata)}" was changed meanwhile`);
    const patched = {...record, claimStatus: status};
    await this.#store.put(patched);
    return toClaim(metadata, patched);
  }

  /** Does nothing: events about a claim are also those of its pod. */
  claimEvent(): void {
    // A claim in a file has no events.
  }

  async #find(ref: ClaimRef): Promise<ProvisionedVolume> {
    const key = claimKey(ref);
    const found = (await this.#store.listOf(key)).find(
      ({state, ownerUid}) => state === 'Bound' && ownerUid === undefined,
    );
    if (found === undefined)
      throw new SystemError(`the volume of the claim "${key}" was not created by kcri`);
    return found;
  }
}

function toClaim({namespace, name}: ClaimRef, record: ProvisionedVolume): ResizedClaim {
  const storage = record.volume?.spec.capacity?.['storage'] ?? '0';
  const status = record.claimStatus ?? {capacity: {storage: claimSizeOf(record) ?? '0'}};
  return {
    metadata: {namespace, name, uid: record.name, resourceVersion: JSON.stringify(status)},
    spec: {accessModes: record.request.accessModes, resources: {requests: {storage}}},
    status,
  };
}
