import {isDeepStrictEqual} from 'node:util';
import type {VolumeAttributesClass} from '../../../../api/types/v1-storage.js';
import {KcriError, messageOf, rethrowUnexpected} from '../../../../base/errors.js';
import type {GrpcCode} from '../../../../cri/index.js';
import {formatRfc3339Seconds} from '../../../../format/time.js';
import type {ClaimToProvision} from '../../../contract/volumes/claimed-volume.js';
import type {ResizedClaimStatus} from '../../../contract/volumes/resized-claim.js';
import {CsiCallError} from '../csi/csi-driver-client.js';
import {
  attributesChanged,
  attributesFailed,
  attributesInProgress,
  attributesPending,
} from './attributes-status.js';
import {attributesProblem, wantedAttributes} from './claim-attributes.js';
import {claimKey, claimSizeOf, type ProvisionedVolume} from './provisioned-volume-store.js';
import type {RecordEvent} from './volume-resizer.js';
import {VolumeWork, type VolumeWorkOptions} from './volume-work.js';

/** Codes of changes that a driver cannot make, or cannot make to any volume. */
const INFEASIBLE: ReadonlySet<GrpcCode | undefined> = new Set<GrpcCode | undefined>([
  'INVALID_ARGUMENT',
  'UNIMPLEMENTED',
]);

/** Time after which a change that a driver finds infeasible is tried again, in ms. */
const INFEASIBLE_DELAY_MS = 300_000;

/** Reason why a change was not made. */
interface Failure {
  readonly target: string;
  readonly message: string;
  readonly isInfeasible: boolean;
}

/** A change that was not made. */
interface FailedChange extends Pick<Failure, 'target' | 'message'> {
  /** Time before which it is not tried again, in ms of the monotonic clock. */
  readonly retryAt: number;
}

/**
 * Has CSI drivers change the attributes of volumes whose claims name another VolumeAttributesClass, as a cluster's external-resizer
 * does. The progress is in the status of the claim, which is stored with its volume.
 */
export class VolumeModifier {
  readonly #options: VolumeWorkOptions<'modifyVolume'>;
  readonly #work: VolumeWork;
  /** Changes that were not made, by the names of the volumes. */
  readonly #failed = new Map<string, FailedChange>();

  constructor(options: VolumeWorkOptions<'modifyVolume'>) {
    this.#options = options;
    this.#work = new VolumeWork(options);
  }

  /**
   * Returns the record of a volume whose driver has changed its attributes, if its claim names another class; undefined while the
   * driver does so. A failure is an event, since the volume can be used as it is; a later call tries again. Rejects with the signal's
   * reason.
   */
  async modify(
    record: ProvisionedVolume,
    claim: ClaimToProvision,
    event: RecordEvent,
    signal: AbortSignal,
  ): Promise<ProvisionedVolume | undefined> {
    const target = wantedAttributes(record, claim);
    if (target === undefined) return record;
    const failed = this.#failed.get(record.name);
    if (failed?.target === target && this.#options.clock.monotonic() < failed.retryAt) return record;
    const change = async (): Promise<ProvisionedVolume> => await this.#modify(record, claim, target, event);
    return await this.#work.run(record.name, change, signal);
  }

  /** Has the driver change a volume, and stores that; resolves with its record, also after a failure, which is an event. */
  async #modify(
    record: ProvisionedVolume,
    claim: ClaimToProvision,
    target: string,
    event: RecordEvent,
  ): Promise<ProvisionedVolume> {
    const {attributesClass} = claim;
    const problem = attributesProblem(claim, record.request.driver);
    if (problem !== undefined || attributesClass === undefined) {
      this.#reportFailure(record.name, {target, message: problem ?? '', isInfeasible: false}, event);
      return (await this.#store(record, claim, attributesPending)) ?? record;
    }
    try {
      return await this.#call(record, claim, attributesClass, event);
    } catch (error) {
      rethrowUnexpected(error);
      const message = messageOf(error);
      const isInfeasible = error instanceof CsiCallError && INFEASIBLE.has(error.grpcCode);
      const hint = error instanceof KcriError && error.hint !== undefined ? ` (${error.hint})` : '';
      this.#reportFailure(record.name, {target, message: `${message}${hint}`, isInfeasible}, event);
      const now = formatRfc3339Seconds(this.#options.clock.now());
      const change = (status: ResizedClaimStatus): ResizedClaimStatus =>
        attributesFailed(status, {message, isInfeasible, now});
      return (await this.#store(record, claim, change)) ?? record;
    }
  }

  async #call(
    record: ProvisionedVolume,
    claim: ClaimToProvision,
    {metadata: {name = ''}, parameters = {}}: VolumeAttributesClass,
    event: RecordEvent,
  ): Promise<ProvisionedVolume> {
    const now = formatRfc3339Seconds(this.#options.clock.now());
    await this.#store(record, claim, (status) => attributesInProgress(status, name, now));
    event('Normal', 'VolumeModify', `external resizer is modifying volume ${claim.name} with vac ${name}`);
    const handle = record.volume?.spec.csi?.volumeHandle ?? '';
    const {driver} = record.request;
    // The pod that has asked for it may end before.
    const {signal} = new AbortController();
    await this.#options.csi().modifyVolume({driver, handle, mutableParameters: parameters}, signal);
    const changed = await this.#store(record, claim, (status) => attributesChanged(status, name), name);
    this.#failed.delete(record.name);
    const message = `external resizer modified volume ${claim.name} with vac ${name} successfully`;
    event('Normal', 'VolumeModifySuccessful', message);
    return changed ?? record;
  }

  /** Reports a failure, once until another one; an infeasible change is not tried again soon. */
  #reportFailure(name: string, {target, message, isInfeasible}: Failure, event: RecordEvent): void {
    const before = this.#failed.get(name);
    const isKnown = before?.target === target && before.message === message;
    if (!isKnown) event('Warning', 'VolumeModifyFailed', message);
    const now = this.#options.clock.monotonic();
    this.#failed.set(name, {target, message, retryAt: isInfeasible ? now + INFEASIBLE_DELAY_MS : now});
  }

  /** Changes the stored status of a claim, and the class of its volume if given; undefined if the volume was deleted meanwhile. */
  async #store(
    {name}: ProvisionedVolume,
    claim: ClaimToProvision,
    change: (status: ResizedClaimStatus) => ResizedClaimStatus,
    attributesClass?: string,
  ): Promise<ProvisionedVolume | undefined> {
    const {store} = this.#options;
    await using _lock = await store.lockClaim(claimKey(claim));
    const current = await store.getBound(name);
    if (current?.volume === undefined) return undefined;
    const {volume, claimStatus = {capacity: {storage: claimSizeOf(current) ?? '0'}}} = current;
    const spec = {
      ...volume.spec,
      ...(attributesClass !== undefined && {volumeAttributesClassName: attributesClass}),
    };
    const changed = {...current, volume: {...volume, spec}, claimStatus: change(claimStatus)};
    if (!isDeepStrictEqual(changed, current)) await store.put(changed);
    return changed;
  }
}
