import type {FieldError} from '../field-error.js';
import {invalidValue, notFound} from '../field-error.js';
import {FieldPath} from '../field-path.js';
import {compareQuantities} from '../quantity.js';
import type {ApiObject} from '../types/v1-objects.js';
import type {PersistentVolume, PersistentVolumeClaim} from '../types/v1-persistent-volumes.js';
import type {StorageClass} from '../types/v1-storage.js';
import {matchesLabelSelector} from '../workloads/match-labels.js';

/** Result for a claim that is not a directory of the node. */
export type BoundClaim =
  | {readonly kind: 'bound'; readonly volume: PersistentVolume}
  /** No volume of the manifests fits, and the class of the claim can create one. */
  | {readonly kind: 'provisioned'; readonly claim: PersistentVolumeClaim; readonly storageClass: StorageClass}
  /** The claim names a volume that it cannot have. */
  | {readonly kind: 'unbound'; readonly claim: string; readonly problem: FieldError};

/** Results of claims by `namespace/name`. */
export type BoundClaims = ReadonlyMap<string, BoundClaim>;

const VOLUME_NAME = new FieldPath(['spec', 'volumeName']);

/** Returns `namespace/name` of a claim. */
export function claimKey({metadata}: Pick<PersistentVolumeClaim, 'metadata'>): string {
  return `${metadata.namespace ?? 'default'}/${metadata.name ?? ''}`;
}

/**
 * Binds claims to PersistentVolumes by the rules of the PersistentVolume controller: a claim gets the volume that it
 * names, or that names it, or else the smallest one that fits. Another claim whose StorageClass is in the manifests is
 * provisioned; others are omitted.
 */
export function bindClaims(objects: readonly ApiObject[]): BoundClaims {
  const claims = objects.flatMap((object) => (object.kind === 'PersistentVolumeClaim' ? [object] : []));
  const volumes = objects.flatMap((object) => (object.kind === 'PersistentVolume' ? [object] : []));
  const classes = objects.flatMap((object) => (object.kind === 'StorageClass' ? [object] : []));
  const binder = new ClaimBinder(
    claims.map((claim) => withDefaultClass(claim, classes)),
    volumes,
  );
  for (const volume of volumes) binder.bindReserved(volume);
  binder.bindOthers(classes);
  return binder.bound;
}

/** Annotation of the class of claims that name none. */
const IS_DEFAULT = 'storageclass.kubernetes.io/is-default-class';

/** Returns a claim with the default class if it names none, as the API server's admission does (DefaultStorageClass). */
export function withDefaultClass<T extends Pick<PersistentVolumeClaim, 'spec'>>(
  claim: T,
  classes: readonly StorageClass[],
): T {
  if (claim.spec.storageClassName !== undefined) return claim;
  const [found] = classes
    .filter(({metadata}) => metadata.annotations?.[IS_DEFAULT] === 'true')
    .map(({metadata}) => metadata.name ?? '')
    .toSorted();
  return found === undefined ? claim : {...claim, spec: {...claim.spec, storageClassName: found}};
}

class ClaimBinder {
  readonly #claims: readonly PersistentVolumeClaim[];
  readonly #volumes: readonly PersistentVolume[];
  readonly #used = new Set<PersistentVolume>();
  readonly bound = new Map<string, BoundClaim>();

  constructor(claims: readonly PersistentVolumeClaim[], volumes: readonly PersistentVolume[]) {
    this.#claims = claims;
    this.#volumes = volumes;
  }

  /** Binds a volume that names its claim, unless the claim names another one. */
  bindReserved(volume: PersistentVolume): void {
    const key = reservedFor(volume);
    const claim = this.#claims.find((one) => claimKey(one) === key);
    if (key !== undefined && (claim === undefined || acceptsName(claim, volume))) this.#bind(key, volume);
  }

  /** Binds the claims that no volume names; those without a volume are provisioned by their class. */
  bindOthers(classes: readonly StorageClass[]): void {
    for (const claim of this.#claims) this.#bindNamed(claim);
    for (const claim of this.#claims) this.#bindSmallest(claim);
    for (const claim of this.#claims) {
      const storageClass = classes.find(({metadata}) => metadata.name === claim.spec.storageClassName);
      const key = claimKey(claim);
      if (storageClass !== undefined && !this.bound.has(key))
        this.bound.set(key, {kind: 'provisioned', claim, storageClass});
    }
  }

  /** Binds a claim to the volume that it names. */
  #bindNamed(claim: PersistentVolumeClaim): void {
    const key = claimKey(claim);
    const {volumeName = ''} = claim.spec;
    if (volumeName === '' || this.bound.has(key)) return;
    const volume = this.#volumes.find(({metadata}) => metadata.name === volumeName);
    const problem = checkNamed(claim, volume, volume !== undefined && this.#used.has(volume));
    if (problem !== undefined) this.bound.set(key, {kind: 'unbound', claim: key, problem});
    else if (volume !== undefined) this.#bind(key, volume);
  }

  /** Binds a claim to the smallest free volume that fits. */
  #bindSmallest(claim: PersistentVolumeClaim): void {
    if (this.bound.has(claimKey(claim))) return;
    const free = this.#volumes.filter(
      (volume) => !this.#used.has(volume) && reservedFor(volume) === undefined && fits(claim, volume),
    );
    const [smallest] = free.toSorted((a, b) => compareQuantities(capacityOf(a), capacityOf(b)));
    if (smallest !== undefined) this.#bind(claimKey(claim), smallest);
  }

  #bind(key: string, volume: PersistentVolume): void {
    this.bound.set(key, {kind: 'bound', volume});
    this.#used.add(volume);
  }
}

/** Returns the claim that a volume is reserved for, as `namespace/name`. */
function reservedFor({spec: {claimRef}}: PersistentVolume): string | undefined {
  return claimRef?.name === undefined ? undefined : `${claimRef.namespace ?? 'default'}/${claimRef.name}`;
}

/** Reports whether a claim names no other volume. */
function acceptsName(
  {spec: {volumeName = ''}}: PersistentVolumeClaim,
  {metadata}: PersistentVolume,
): boolean {
  return volumeName === '' || volumeName === metadata.name;
}

function checkNamed(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume | undefined,
  isUsed: boolean,
): FieldError | undefined {
  const {volumeName = ''} = claim.spec;
  if (volume === undefined)
    return notFound(VOLUME_NAME, volumeName, 'no PersistentVolume of this name is in the manifests');
  const owner = reservedFor(volume);
  if (isUsed || (owner !== undefined && owner !== claimKey(claim))) {
    const other = owner === undefined || owner === claimKey(claim) ? 'another claim' : `the claim ${owner}`;
    return invalidValue(VOLUME_NAME, volumeName, `the PersistentVolume belongs to ${other}`);
  }
  const mismatch = owner === undefined ? findMismatch(claim, volume) : undefined;
  return mismatch === undefined
    ? undefined
    : invalidValue(
        VOLUME_NAME,
        volumeName,
        `Cannot bind to requested volume ${JSON.stringify(volumeName)}: ${mismatch}`,
      );
}

function capacityOf({spec: {capacity}}: PersistentVolume): string {
  return capacity?.['storage'] ?? '0';
}

/** Reports whether a claim may have a volume (FindMatchingVolume). */
function fits(claim: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  const {selector} = claim.spec;
  const isSelected = selector === undefined || matchesLabelSelector(selector, volume.metadata.labels ?? {});
  return isSelected && findMismatch(claim, volume) === undefined;
}

/** Returns why a claim cannot have a volume, also if it names it; undefined if it can (checkVolumeSatisfyClaim). */
function findMismatch({spec: claim}: PersistentVolumeClaim, volume: PersistentVolume): string | undefined {
  const {resources, accessModes = []} = claim;
  const requested = resources?.requests?.['storage'] ?? '0';
  if (compareQuantities(capacityOf(volume), requested) < 0) return 'requested PV is too small';
  if (classOf(claim) !== classOf(volume.spec)) return 'storageClassName does not match';
  if (modeOf(claim) !== modeOf(volume.spec)) return 'incompatible volumeMode';
  const hasModes = accessModes.every((mode) => volume.spec.accessModes?.includes(mode));
  return hasModes ? undefined : 'incompatible accessMode';
}

function classOf({storageClassName = ''}: {readonly storageClassName?: string}): string {
  return storageClassName;
}

function modeOf({volumeMode = 'Filesystem'}: {readonly volumeMode?: string}): string {
  return volumeMode;
}
