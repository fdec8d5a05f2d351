import type {ClaimToProvision} from '../../../contract/volumes/claimed-volume.js';
import {checkClaim} from './claim-changes.js';
import type {ProvisionedVolume} from './provisioned-volume-store.js';

/** Returns why a driver cannot give the volume of a claim the attributes that it names; undefined if it can, or none are named. */
export function attributesProblem(
  {spec: {volumeAttributesClassName: name = ''}, attributesClass}: ClaimToProvision,
  driver: string,
): string | undefined {
  if (name === '') return undefined;
  if (attributesClass === undefined)
    return `volumeattributesclass.storage.k8s.io ${JSON.stringify(name)} not found: add the VolumeAttributesClass to the manifests of the pod`;
  const {driverName} = attributesClass;
  if (driverName === driver) return undefined;
  return `VAC ${name} referenced in PVC is for driver ${driverName} which does not match driver name ${driver}`;
}

/** Returns the class of attributes that a volume is to have, and may not have; undefined if it has what its claim names. */
export function wantedAttributes(record: ProvisionedVolume, claim: ClaimToProvision): string | undefined {
  const {volumeAttributesClassName: target = ''} = claim.spec;
  if (target === '' || checkClaim(record, claim).kind === 'refused') return undefined;
  const {currentVolumeAttributesClassName: current, modifyVolumeStatus} = record.claimStatus ?? {};
  // A change that was not finished may have had an effect.
  return target === current && modifyVolumeStatus === undefined ? undefined : target;
}
