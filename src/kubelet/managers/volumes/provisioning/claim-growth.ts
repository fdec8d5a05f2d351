import {compareQuantities, quantityValue, toBinaryQuantity} from '../../../../api/quantity.js';
import type {
  CSIPersistentVolumeSource,
  PersistentVolume,
} from '../../../../api/types/v1-persistent-volumes.js';
import type {Quantity} from '../../../../api/types/v1-meta.js';
import type {StorageClass} from '../../../../api/types/v1-storage.js';
import type {ClaimToProvision} from '../../../contract/volumes/claimed-volume.js';
import {claimKey, claimSizeOf, type ProvisionedVolume} from './provisioned-volume-store.js';

/** A claim that asks for more than its volume has. */
export interface Growth {
  readonly volume: PersistentVolume;
  readonly source: CSIPersistentVolumeSource;
  readonly requested: Quantity;
  readonly storageClass: StorageClass;
}

/** Decision about the size that a claim asks for. */
export type SizeCheck =
  | {readonly kind: 'unchanged'}
  /** The API server would refuse the claim, for this reason: its volume keeps its size. */
  | {readonly kind: 'refused'; readonly requested: Quantity; readonly message: string}
  | {readonly kind: 'grows'; readonly growth: Growth};

/**
 * Decides whether the volume of a claim is enlarged, by the rules of the API server (PersistentVolumeClaimResize,
 * ValidatePersistentVolumeClaimUpdate).
 */
export function checkClaimSize(record: ProvisionedVolume, claim: ClaimToProvision): SizeCheck {
  const requested = claim.spec.resources?.requests?.['storage'];
  const size = claimSizeOf(record);
  if (requested === undefined || size === undefined) return {kind: 'unchanged'};
  if (isSmaller(record, requested, size))
    return {kind: 'refused', requested, message: notReduced(claim, size)};
  const growth = growthOf(record, claim);
  if (growth === undefined) return {kind: 'unchanged'};
  return growth.storageClass.allowVolumeExpansion === true
    ? {kind: 'grows', growth}
    : {kind: 'refused', requested, message: notAllowed(claim)};
}

/** Returns by what a volume has to grow; undefined if the claim asks for no more than it has. */
export function growthOf(
  {volume}: ProvisionedVolume,
  {spec, storageClass}: ClaimToProvision,
): Growth | undefined {
  const requested = spec.resources?.requests?.['storage'];
  const {csi: source, capacity} = volume?.spec ?? {};
  if (volume === undefined || source === undefined || storageClass === undefined) return undefined;
  if (requested === undefined || compareQuantities(requested, capacity?.['storage'] ?? '0') <= 0)
    return undefined;
  return {volume, source, requested, storageClass};
}

/**
 * Reports whether a claim asks for less than it has asked for before. A volume may be larger than what its claim has asked for, and
 * a claim that could not be enlarged may return to the size that it has.
 */
function isSmaller({request}: ProvisionedVolume, requested: Quantity, size: Quantity): boolean {
  return quantityValue(requested) < BigInt(request.requiredBytes) && compareQuantities(requested, size) <= 0;
}

function notAllowed(claim: ClaimToProvision): string {
  return `persistentvolumeclaims ${JSON.stringify(claimKey(claim))} is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize`;
}

function notReduced(claim: ClaimToProvision, size: Quantity): string {
  return `PersistentVolumeClaim ${JSON.stringify(claimKey(claim))} is invalid: spec.resources.requests.storage: Forbidden: field can not be less than status.capacity (${toBinaryQuantity(size)})`;
}
