import {isDeepStrictEqual} from 'node:util';
import {compareQuantities, toBinaryQuantity} from '../../../../api/quantity.js';
import type {PersistentVolumeClaimSpec} from '../../../../api/types/v1-attached-volumes.js';
import type {Quantity} from '../../../../api/types/v1-meta.js';
import type {
  CSIPersistentVolumeSource,
  PersistentVolume,
} from '../../../../api/types/v1-persistent-volumes.js';
import type {StorageClass} from '../../../../api/types/v1-storage.js';
import {formatAggregate} from '../../../../base/errors.js';
import {shorten} from '../../../../base/shorten.js';
import type {ClaimToProvision} from '../../../contract/volumes/claimed-volume.js';
import {claimKey, claimSizeOf, type ProvisionedVolume} from './provisioned-volume-store.js';

/** A claim that asks for more than its volume has. */
export interface Growth {
  readonly volume: PersistentVolume;
  readonly source: CSIPersistentVolumeSource;
  readonly requested: Quantity;
  readonly storageClass: StorageClass;
}

/** Decision about the claim of a volume as it is in the manifests now. */
export type ClaimCheck =
  | {readonly kind: 'unchanged'}
  /** The API server would refuse the change, for this reason: the claim stays as it was accepted. */
  | {readonly kind: 'refused'; readonly reason: RefusalReason; readonly message: string}
  /** The claim has changed, and its volume does not have to. */
  | {readonly kind: 'accepted'; readonly spec: PersistentVolumeClaimSpec}
  | {readonly kind: 'grows'; readonly growth: Growth};

/** Reasons of the events about refused changes: of the size alone, or of more. */
export type RefusalReason = 'VolumeResizeFailed' | 'ClaimChangeRefused';

/**
 * Decides what happens to the volume of a claim that has changed, by the rules of the API server (ValidatePersistentVolumeClaimUpdate,
 * PersistentVolumeClaimResize).
 */
export function checkClaim(record: ProvisionedVolume, claim: ClaimToProvision): ClaimCheck {
  const size = claimSizeOf(record);
  if (size === undefined) return {kind: 'unchanged'};
  const accepted = acceptedSpec(record, claim);
  const changed = changedFields(accepted, claim.spec);
  const reduced = isReduced(accepted, claim.spec, size) ? [notReduced(size)] : [];
  const removed = isAttributesRemoved(record, claim.spec) ? [attributesNotRemoved(claim.spec)] : [];
  const problems = [...immutableProblems(changed), ...reduced, ...removed];
  if (problems.length > 0) {
    const message = `PersistentVolumeClaim ${JSON.stringify(claimKey(claim))} is invalid: ${formatAggregate(problems)}`;
    return {
      kind: 'refused',
      reason: changed.length + removed.length > 0 ? 'ClaimChangeRefused' : 'VolumeResizeFailed',
      message,
    };
  }
  const growth = growthOf(record, claim);
  const asksForMore = compareQuantities(sizeOf(claim.spec), sizeOf(accepted)) > 0;
  if ((asksForMore || growth !== undefined) && claim.storageClass?.allowVolumeExpansion !== true)
    return {kind: 'refused', reason: 'VolumeResizeFailed', message: notAllowed(claim)};
  if (growth !== undefined) return {kind: 'grows', growth};
  const spec = acceptChange(accepted, claim.spec);
  return isDeepStrictEqual(spec, accepted) ? {kind: 'unchanged'} : {kind: 'accepted', spec};
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
 * Returns the claim of a volume as it was accepted last, with the volume that it is bound to; of a record without it, what the volume
 * was created for.
 */
function acceptedSpec(
  {name, claimSpec, request, volume}: ProvisionedVolume,
  {spec}: ClaimToProvision,
): PersistentVolumeClaimSpec {
  if (claimSpec !== undefined) return {...claimSpec, volumeName: name};
  const {accessModes, requiredBytes, blockName} = request;
  const storageClassName = volume?.spec.storageClassName;
  return {
    ...{...spec, volumeName: name},
    ...{accessModes: [...accessModes], volumeMode: blockName === undefined ? 'Filesystem' : 'Block'},
    ...(storageClassName !== undefined && {storageClassName}),
    resources: {...spec.resources, requests: {storage: requiredBytes}},
  };
}

/** Returns the accepted claim with what may change of it. */
export function acceptChange(
  accepted: PersistentVolumeClaimSpec,
  {resources, volumeAttributesClassName}: PersistentVolumeClaimSpec,
): PersistentVolumeClaimSpec {
  const requests = resources?.requests ?? accepted.resources?.requests;
  return {
    ...accepted,
    ...(requests !== undefined && {resources: {...accepted.resources, requests}}),
    ...(volumeAttributesClassName !== undefined && {volumeAttributesClassName}),
  };
}

/** Fields that cannot change, by their paths in the spec, with the values that count as equal. */
const IMMUTABLE: Readonly<Record<string, (spec: PersistentVolumeClaimSpec) => unknown>> = {
  accessModes: ({accessModes = []}) => accessModes,
  selector: ({selector}) => selector,
  'resources.limits.storage': ({resources}) => {
    const limit = resources?.limits?.['storage'];
    return limit === undefined ? undefined : toBinaryQuantity(limit);
  },
  volumeName: ({volumeName}) => volumeName,
  storageClassName: ({storageClassName}) => storageClassName,
  volumeMode: ({volumeMode = 'Filesystem'}) => volumeMode,
  dataSource: ({dataSource}) => dataSource,
  dataSourceRef: ({dataSourceRef}) => dataSourceRef,
};

/** Fields that the API server sets in claims that lack them, and that stay when such a claim is applied again. */
const KEPT: ReadonlySet<string> = new Set(['volumeName', 'storageClassName', 'volumeMode']);

/** A field with the values that it had and would get. */
interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

function changedFields(
  accepted: PersistentVolumeClaimSpec,
  spec: PersistentVolumeClaimSpec,
): readonly FieldChange[] {
  return Object.entries(IMMUTABLE).flatMap(([field, valueOf]) => {
    const [before, after] = [valueOf(accepted), valueOf(spec)];
    const isKept = KEPT.has(field) && spec[field as keyof PersistentVolumeClaimSpec] === undefined;
    return isKept || isDeepStrictEqual(before, after) ? [] : [{field, before, after}];
  });
}

function immutableProblems(changes: readonly FieldChange[]): readonly string[] {
  if (changes.length === 0) return [];
  const rule =
    'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
  const mode = changes.find(({field}) => field === 'volumeMode');
  return [
    `spec: Forbidden: ${rule} (${changes.map(describeChange).join('; ')})`,
    ...(mode === undefined
      ? []
      : [`volumeMode: Invalid value: ${JSON.stringify(mode.after)}: field is immutable`]),
  ];
}

/** Longest text of a value in a message. */
const VALUE_LENGTH = 120;

function describeChange({field, before, after}: FieldChange): string {
  const text = (value: unknown): string =>
    value === undefined ? '<none>' : shorten(JSON.stringify(value), VALUE_LENGTH);
  return `${field}: ${text(before)} → ${text(after)}`;
}

/**
 * Reports whether a claim asks for less than it has asked for before. A volume may be larger than what its claim has asked for, and
 * a claim that could not be enlarged may return to the size that it has.
 */
function isReduced(
  accepted: PersistentVolumeClaimSpec,
  spec: PersistentVolumeClaimSpec,
  size: Quantity,
): boolean {
  const requested = spec.resources?.requests?.['storage'];
  if (requested === undefined) return false;
  return compareQuantities(requested, sizeOf(accepted)) < 0 && compareQuantities(requested, size) <= 0;
}

function sizeOf({resources}: PersistentVolumeClaimSpec): Quantity {
  return resources?.requests?.['storage'] ?? '0';
}

function notAllowed(claim: ClaimToProvision): string {
  return `persistentvolumeclaims ${JSON.stringify(claimKey(claim))} is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize`;
}

/** Reports whether a claim names no class of attributes though its volume has those of one. */
function isAttributesRemoved(
  {claimStatus}: ProvisionedVolume,
  {volumeAttributesClassName = ''}: PersistentVolumeClaimSpec,
): boolean {
  return volumeAttributesClassName === '' && claimStatus?.currentVolumeAttributesClassName !== undefined;
}

function attributesNotRemoved({volumeAttributesClassName: name}: PersistentVolumeClaimSpec): string {
  const value = name === undefined ? 'nil' : 'empty string';
  return `spec.volumeAttributesClassName: Forbidden: update to ${value} is forbidden when status.currentVolumeAttributesClassName is not nil`;
}

function notReduced(size: Quantity): string {
  return `spec.resources.requests.storage: Forbidden: field can not be less than status.capacity (${toBinaryQuantity(size)})`;
}
