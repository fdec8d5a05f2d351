import {quantityValue} from '../../../../api/quantity.js';
import {messageOf, rethrowUnexpected} from '../../../../base/errors.js';
import type {PodEvent} from '../../../contract/pod-event.js';
import type {ClaimToProvision} from '../../../contract/volumes/claimed-volume.js';
import type {ExpandedCsiVolume} from '../../../contract/volumes/csi-volumes.js';
import type {ResizedClaimStatus} from '../../../contract/volumes/resized-claim.js';
import {attributesStatus} from './attributes-status.js';
import {acceptChange, checkClaim, growthOf, type Growth} from './claim-changes.js';
import {classSecret} from './provisioned-pv.js';
import {claimKey, claimSizeOf, type ProvisionedVolume} from './provisioned-volume-store.js';
import {VolumeWork, type VolumeWorkOptions} from './volume-work.js';

/** Reports what happens to a claim. */
export type RecordEvent = (type: PodEvent['type'], reason: string, message: string) => void;

/** The volume of a claim that may ask for more. */
export interface ResizedVolume {
  readonly record: ProvisionedVolume;
  /** True if its driver still enlarges it. */
  readonly isGrowing: boolean;
}

/**
 * Has CSI drivers enlarge the volumes of claims that ask for more, as a cluster's external-resizer does. What is left for the node is
 * in the status of the claim, which is stored with its volume.
 */
export class VolumeResizer {
  readonly #options: VolumeWorkOptions<'expandVolume'>;
  /** Changes that the API server would refuse, which are reported once: `volume message`. */
  readonly #refused = new Set<string>();
  readonly #work: VolumeWork;

  constructor(options: VolumeWorkOptions<'expandVolume'>) {
    this.#options = options;
    this.#work = new VolumeWork(options);
  }

  /**
   * Returns the volume of a claim, which its driver has enlarged if the claim asks for more, or still enlarges: a driver that is slow
   * or hangs keeps no pod from starting, and the pod is synced again. A failure is an event, since the volume can be used as it is; the
   * next call tries again. Rejects with the signal's reason.
   */
  async resize(
    record: ProvisionedVolume,
    claim: ClaimToProvision,
    event: RecordEvent,
    signal: AbortSignal,
  ): Promise<ResizedVolume> {
    const check = checkClaim(record, claim);
    if (check.kind === 'refused') {
      const change = `${record.name} ${check.message}`;
      if (!this.#refused.has(change)) event('Warning', check.reason, check.message);
      this.#refused.add(change);
    }
    if (check.kind === 'accepted')
      return {record: (await this.#accept(record.name, claim, signal)) ?? record, isGrowing: false};
    if (check.kind !== 'grows') return {record, isGrowing: false};
    const {growth} = check;
    const grow = async (): Promise<ProvisionedVolume> => await this.#grow(record, claim, growth, event);
    const resized = await this.#work.run(record.name, grow, signal);
    return {record: resized ?? record, isGrowing: resized === undefined};
  }

  /** Stores a change of a claim; undefined if its volume was deleted meanwhile. */
  async #accept(
    name: string,
    claim: ClaimToProvision,
    signal: AbortSignal,
  ): Promise<ProvisionedVolume | undefined> {
    const {store} = this.#options;
    await using _lock = await store.lockClaim(claimKey(claim), signal);
    const current = await store.getBound(name);
    const check = current && checkClaim(current, claim);
    if (current === undefined || check?.kind !== 'accepted') return current;
    const changed = {...current, claimSpec: check.spec};
    await store.put(changed);
    return changed;
  }

  /** Has the driver enlarge a volume, and stores that; resolves with its record, also after a failure, which is an event. */
  async #grow(
    record: ProvisionedVolume,
    claim: ClaimToProvision,
    growth: Growth,
    event: RecordEvent,
  ): Promise<ProvisionedVolume> {
    event('Normal', 'Resizing', `External resizer is resizing volume ${record.name}`);
    try {
      const expanded = await this.#expand(record, claim, growth);
      const resized = (await this.#store(record.name, claim, expanded)) ?? record;
      if (expanded.needsNode)
        event('Normal', 'FileSystemResizeRequired', 'Require file system resize of volume on node');
      else event('Normal', 'VolumeResizeSuccessful', 'Resize volume succeeded');
      return resized;
    } catch (error) {
      rethrowUnexpected(error);
      event(
        'Warning',
        'VolumeResizeFailed',
        resizeFailure(record.name, growth.storageClass.provisioner, error),
      );
      return record;
    }
  }

  /**
   * Stores that a volume was enlarged, unless another process has done so. Undefined if the volume was deleted meanwhile: the claim is
   * not locked while its driver works.
   */
  async #store(
    name: string,
    claim: ClaimToProvision,
    expanded: ExpandedCsiVolume,
  ): Promise<ProvisionedVolume | undefined> {
    const {store} = this.#options;
    await using _lock = await store.lockClaim(claimKey(claim));
    const current = await store.getBound(name);
    if (current === undefined) return undefined;
    const growth = growthOf(current, claim);
    if (growth === undefined) return current;
    const resized = withSize(current, claim, growth, expanded);
    await store.put(resized);
    return resized;
  }

  async #expand(
    {name, request}: ProvisionedVolume,
    claim: ClaimToProvision,
    {source, requested, storageClass}: Growth,
  ): Promise<ExpandedCsiVolume> {
    const {driver, accessModes, mountOptions, fsType, blockName} = request;
    return await this.#options.csi().expandVolume(
      {
        ...{driver, accessModes, mountOptions, fsType, blockName},
        handle: source.volumeHandle ?? '',
        requiredBytes: quantityValue(requested),
        secret: classSecret('controller-expand', name, claim, storageClass.parameters),
      },
      // The pod that has asked for it may end before.
      new AbortController().signal,
    );
  }
}

/** Returns the message about a volume that its driver has not enlarged. */
export function resizeFailure(volume: string, driver: string, error: unknown): string {
  return `resize volume ${JSON.stringify(volume)} by resizer ${JSON.stringify(driver)} failed: ${messageOf(error)}`;
}

/** Returns the record of a volume that its driver has enlarged (markPVCAsFSResizeRequired, MarkAsResizeFinished). */
function withSize(
  record: ProvisionedVolume,
  claim: ClaimToProvision,
  {volume, source, requested, storageClass}: Growth,
  {bytes, needsNode}: ExpandedCsiVolume,
): ProvisionedVolume {
  const storage = bytes === 0n ? requested : String(bytes);
  const secret = classSecret('node-expand', record.name, claim, storageClass.parameters);
  const csi = {...source, ...(secret !== undefined && {nodeExpandSecretRef: secret})};
  const spec = {...volume.spec, capacity: {...volume.spec.capacity, storage}, csi};
  const attributes = attributesStatus(record.claimStatus);
  const claimStatus: ResizedClaimStatus = needsNode
    ? {
        ...attributes,
        capacity: {storage: claimSizeOf(record) ?? '0'},
        allocatedResources: {storage},
        allocatedResourceStatuses: {storage: 'NodeResizePending'},
        conditions: [
          ...(attributes.conditions ?? []),
          {
            ...{type: 'FileSystemResizePending', status: 'True'},
            message: 'Waiting for user to (re-)start a pod to finish file system resize of volume on node.',
          },
        ],
      }
    : {...attributes, capacity: {storage}};
  const claimSpec = acceptChange(record.claimSpec ?? claim.spec, claim.spec);
  return {...record, claimSpec, volume: {...volume, spec}, claimStatus};
}
