import {compareQuantities} from '../../../../api/quantity.js';
import type {Quantity} from '../../../../api/types/v1-meta.js';
import type {Clock} from '../../../../base/clock.js';
import {rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import type {ApiObjects} from '../../../contract/api-objects.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import type {ClaimToProvision} from '../../../contract/volumes/claimed-volume.js';
import type {ClaimRef} from '../../../contract/volumes/resized-claim.js';
import {isNodeResizePending} from '../csi/expand/claim-status.js';
import {attributesProblem} from './claim-attributes.js';
import {checkClaim} from './claim-changes.js';
import {ProvisionedClaims} from './provisioned-claims.js';
import {classNotFound, newVolumeFor, persistentVolumeOf} from './provisioned-pv.js';
import {
  claimKey,
  claimSizeOf,
  findBoundVolume,
  ProvisionedVolumeStore,
  type ProvisionedVolume,
} from './provisioned-volume-store.js';
import {resizeFailure} from './volume-resizer.js';
import {withProvisionedClaims} from './with-provisioned-claims.js';

/** Another size that a claim asks for than its volume has, or a change that is refused. */
export interface PlannedResize {
  /** Claim as `namespace/name`. */
  readonly claim: string;
  /** Name of the PersistentVolume. */
  readonly volume: string;
  /** Size that the volume has for the pod. */
  readonly size: Quantity;
  /** Undefined if another change is refused. */
  readonly requested?: Quantity | undefined;
  /** Reason why the claim would not be changed, and its volume keep its size; undefined if it would be enlarged. */
  readonly refusal?: string | undefined;
}

/** Options of withPlannedClaims. */
export interface PlannedClaimsOptions {
  readonly node: NodeFacts;
  readonly clock: Clock;
  /** True to assume that no volume was created. */
  readonly offline: boolean;
  /** Gets the claims that ask for other sizes than their volumes have, by the names of the volumes. */
  readonly resizes: Map<string, PlannedResize>;
}

/**
 * Returns objects whose claims have the volumes that were created for them, or those that drivers would be asked for, whose names
 * are not known yet. Nothing is created or enlarged; a driver is only asked whether it can enlarge volumes.
 */
export function withPlannedClaims(objects: ApiObjects, options: PlannedClaimsOptions): ApiObjects {
  const {rootDir} = options.node;
  const store = new ProvisionedVolumeStore(rootDir);
  const find = async (
    claim: ClaimRef & Pick<ClaimToProvision, 'ownerUid'>,
  ): Promise<ProvisionedVolume | undefined> =>
    findBoundVolume(options.offline ? [] : await store.listOf(claimKey(claim)), claim);
  return withProvisionedClaims(objects, {
    provision: async (_pod, claim, _events, signal) => {
      const known = await find(claim);
      if (known?.volume !== undefined) {
        const resize = await planResize(known, claim, {...options, objects, signal});
        if (resize !== undefined) options.resizes.set(known.name, resize);
        return {volume: known.volume, claimSize: undefined, isGrowing: false};
      }
      const {storageClass} = claim;
      if (storageClass === undefined) throw new SystemError(...classNotFound(claim));
      const problem = attributesProblem(claim, storageClass.provisioner);
      if (problem !== undefined) throw new SystemError(problem);
      const request = newVolumeFor('pvc-UUID', claim, storageClass);
      const created = {handle: '', bytes: 0n, attributes: {}};
      return {
        volume: persistentVolumeOf(request, created, claim, storageClass),
        claimSize: undefined,
        isGrowing: false,
      };
    },
    boundVolume: () => undefined,
    isProvisioned: async (claim) => (await find(claim))?.volume !== undefined,
  });
}

type ResizeOptions = PlannedClaimsOptions & {readonly objects: ApiObjects; readonly signal: AbortSignal};

/** Returns what a sync would do about the size of a volume; undefined for nothing. */
async function planResize(
  record: ProvisionedVolume,
  claim: ClaimToProvision,
  options: ResizeOptions,
): Promise<PlannedResize | undefined> {
  const resize = {claim: record.claim, volume: record.name, size: claimSizeOf(record) ?? '0'};
  const check = checkClaim(record, claim);
  if (check.kind === 'refused')
    return {
      ...resize,
      ...(check.reason === 'VolumeResizeFailed' && refusedSize(claim)),
      refusal: check.message,
    };
  if (check.kind === 'grows') {
    const {requested} = check.growth;
    return {...resize, requested, refusal: await findRefusal(record, options)};
  }
  // The controller has enlarged it, and its node has not.
  const requested = record.volume?.spec.capacity?.['storage'] ?? '0';
  const isPending = isNodeResizePending(record.claimStatus) && compareQuantities(resize.size, requested) < 0;
  return isPending ? {...resize, requested} : undefined;
}

function refusedSize({spec}: ClaimToProvision): Pick<PlannedResize, 'requested'> {
  return {requested: spec.resources?.requests?.['storage']};
}

/** Returns why the driver of a volume would not enlarge it now; undefined if nothing is known against it. */
async function findRefusal(
  {name, request: {driver}}: ProvisionedVolume,
  {node, clock, objects, signal}: ResizeOptions,
): Promise<string | undefined> {
  const {OnDemandCsiVolumes} = await import('../csi/on-demand-csi.js');
  const csi = new OnDemandCsiVolumes({node, clock, objects, claims: new ProvisionedClaims(node.rootDir)});
  try {
    await csi.requireExpansion(driver, signal);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    rethrowUnexpected(error);
    return resizeFailure(name, driver, error);
  }
}
