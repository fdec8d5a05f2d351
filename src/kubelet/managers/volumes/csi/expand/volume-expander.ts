import {compareQuantities} from '../../../../../api/quantity.js';
import type {Quantity} from '../../../../../api/types/v1-meta.js';
import {abortable} from '../../../../../base/async/abortable.js';
import {KcriError, messageOf, rethrowUnexpected} from '../../../../../base/errors.js';
import {formatRfc3339Seconds} from '../../../../../format/time.js';
import type {CsiClaims} from '../../../../contract/volumes/csi-cluster.js';
import {podRef} from '../../../../contract/pod-ref.js';
import type {
  CsiVolume,
  ExpandableVolume,
  ExpandOptions,
  VolumeExpansion,
} from '../../../../contract/volumes/csi-volumes.js';
import type {ClaimEvent, ResizedClaim} from '../../../../contract/volumes/resized-claim.js';
import {uniqueVolumeName} from '../csi-paths.js';
import {csiPluginOf} from '../csi-metrics.js';
import type {CsiServices} from '../csi-services.js';
import {checkResize, claimSizeOf, failed, finished, inProgress, isRecoverable} from './claim-status.js';
import {ExpandError, nodeExpand} from './node-expand.js';

/** Size of a volume on this node (the actual state of world). */
interface VolumeSize {
  /** Returns how many pods use the volume. */
  readonly countUsers: () => number;
  /** Size that the volume has on the node; undefined if it is not known yet. */
  size: Quantity | undefined;
  /** True if the driver cannot enlarge the volume while it is used. */
  isInUse: boolean;
  /** True if the driver has failed to enlarge it. */
  hasFailed: boolean;
  /** Last expansion; it never rejects. */
  last: Promise<unknown>;
}

/** A volume to enlarge, whose claim is known to be in a cluster. */
interface Work {
  readonly volume: ExpandableVolume;
  readonly claim: ResizedClaim;
  readonly newSize: Quantity;
  readonly oldSize: Quantity;
  readonly state: VolumeSize;
  readonly claims: CsiClaims;
  readonly options: ExpandOptions;
}

/** Result of an expansion: false if the controller has not finished its part. */
type IsDone = boolean;

/** Enlarges volumes on the node when the controller of their driver has enlarged them (node_expander.go). */
export class VolumeExpander {
  readonly #services: CsiServices;
  readonly #sizes = new Map<string, VolumeSize>();
  /** Pods, by UID, that use a volume of another plugin, by its name. */
  readonly #users = new Map<string, Set<string>>();

  constructor(services: CsiServices) {
    this.#services = services;
  }

  /** See CsiVolumes. */
  async expand(volume: CsiVolume, options: ExpandOptions): Promise<IsDone> {
    const {staged} = this.#services;
    const {pod, name, readOnly, expansion} = volume;
    if (expansion === undefined) return true;
    const {driver, handle} = volume;
    const expandable: ExpandableVolume = {
      ...{pod, name, readOnly, expansion},
      plugin: csiPluginOf(driver),
      uniqueName: uniqueVolumeName(volume),
      expandOnNode: async ({newSize}, signal) => nodeExpand(volume, newSize, this.#services, signal),
    };
    return await this.#expandVolume(expandable, () => staged.usersOf({driver, handle}).size, options);
  }

  /** See CsiVolumes. */
  async expandOther(volume: ExpandableVolume, options: ExpandOptions): Promise<IsDone> {
    const users = this.#users.get(volume.uniqueName) ?? new Set();
    this.#users.set(volume.uniqueName, users.add(podRef(volume.pod).uid));
    const expandOnNode: ExpandableVolume['expandOnNode'] = async (sizes, signal) => {
      try {
        await volume.expandOnNode(sizes, signal);
      } catch (cause) {
        signal.throwIfAborted();
        rethrowUnexpected(cause);
        throw new ExpandError(
          'failed',
          messageOf(cause),
          cause instanceof KcriError ? cause.hint : undefined,
        );
      }
    };
    return await this.#expandVolume({...volume, expandOnNode}, () => users.size, options);
  }

  /** Notes that a pod no longer uses volumes of other plugins. */
  release(uid: string): void {
    for (const [name, users] of this.#users)
      if (users.delete(uid) && users.size === 0) {
        this.#users.delete(name);
        this.#sizes.delete(name);
      }
  }

  async #expandVolume(
    volume: ExpandableVolume,
    countUsers: () => number,
    options: ExpandOptions,
  ): Promise<IsDone> {
    const {expansion} = volume;
    const claims = this.#services.cluster?.claims;
    if (claims === undefined) return true;
    const state = this.#stateOf(volume.uniqueName, countUsers, options.isMounted);
    const previous = state.last;
    const work = previous.then(async () => {
      options.signal.throwIfAborted();
      return options.isMounted
        ? await this.#expandOnline(volume, expansion, {state, claims, options})
        : await this.#expandDuringMount(volume, expansion, {state, claims, options});
    });
    state.last = work.catch(() => undefined); // the caller sees the error
    await abortable(previous, options.signal);
    return await work;
  }

  #stateOf(name: string, countUsers: () => number, isMounted: boolean): VolumeSize {
    const known = this.#sizes.get(name);
    if (known !== undefined && countUsers() > (isMounted ? 0 : 1)) return known;
    for (const [other, {countUsers: countOthers}] of this.#sizes)
      if (countOthers() === 0) this.#sizes.delete(other);
    const state = {
      countUsers,
      size: undefined,
      isInUse: false,
      hasFailed: false,
      last: Promise.resolve(),
    };
    this.#sizes.set(name, state);
    return state;
  }

  /** Enlarges a volume that is about to be used (expandVolumeDuringMount). */
  async #expandDuringMount(
    volume: ExpandableVolume,
    {claim: ref, size, claimSize}: VolumeExpansion,
    {state, claims, options}: Pick<Work, 'state' | 'claims' | 'options'>,
  ): Promise<IsDone> {
    state.size ??= claimSize;
    if (claimSize === undefined || compareQuantities(claimSize, size) >= 0) return true;
    const claim = await claims.claim(ref, options.signal);
    if (compareQuantities(claimSizeOf(claim), size) >= 0) {
      state.size = size; // the known size of the claim was out of date
      return true;
    }
    const work = {volume, claim, newSize: size, oldSize: claimSizeOf(claim), state, claims, options};
    if (!volume.readOnly) return await this.#expand(work);
    report(work, {
      ...{type: 'Warning', reason: 'FileSystemResizeFailed'},
      message: `MountVolume.NodeExpandVolume failed for volume ${JSON.stringify(volume.name)} requested read-only file system`,
    });
    return true;
  }

  /** Enlarges a volume that containers use (GenerateExpandInUseVolumeFunc). */
  async #expandOnline(
    volume: ExpandableVolume,
    {claim: ref, size, claimSize}: VolumeExpansion,
    {state, claims, options}: Pick<Work, 'state' | 'claims' | 'options'>,
  ): Promise<IsDone> {
    state.size ??= claimSize;
    if (volume.readOnly || state.isInUse) return true;
    if (state.size === undefined || compareQuantities(size, state.size) <= 0) return true;
    const oldSize = state.size;
    return await this.#services.metrics.timeOf('volume_fs_resize', volume.plugin, async () => {
      const claim = await claims.claim(ref, options.signal);
      return await this.#expand({volume, claim, newSize: size, oldSize, state, claims, options});
    });
  }

  /**
   * Enlarges a volume and reports that, also if the pod ends meanwhile: the other pods of the volume would have it enlarged again.
   * Only the end of the kubelet interrupts it.
   */
  async #expand(given: Work): Promise<IsDone> {
    given.options.signal.throwIfAborted();
    const work = {...given, options: {...given.options, signal: this.#services.signal}};
    const {claim, state} = work;
    if (!isRecoverable(claim)) return await this.#expandWithoutStatus(work);
    const newSize = claim.status?.allocatedResources?.['storage'] ?? work.newSize;
    const isDone = await this.#expandByStatus({...work, newSize});
    if (isDone) state.size = newSize;
    return isDone;
  }

  /** Enlarges a volume whose controller notes nothing in the status (legacyCallNodeExpandOnPlugin). */
  async #expandWithoutStatus(work: Work): Promise<IsDone> {
    const {volume, claim, newSize, oldSize, state, claims, options} = work;
    try {
      await volume.expandOnNode({newSize, oldSize}, options.signal);
    } catch (error) {
      if (!(error instanceof ExpandError) || (error.kind !== 'unsupported' && error.kind !== 'inUse'))
        throw error;
      state.isInUse ||= error.kind === 'inUse';
      state.size = newSize;
      return true;
    }
    reportSuccess(work);
    state.size = newSize;
    if (compareQuantities(claimSizeOf(claim), newSize) >= 0) return true;
    const status = finished(claim.status, newSize);
    await claims.patchClaim(claim, {status, isForced: false}, options.signal);
    return true;
  }

  /** Enlarges a volume if the status of its claim allows it, and reports the progress there (expandOnPlugin). */
  async #expandByStatus(work: Work): Promise<IsDone> {
    const {volume, newSize, oldSize, state, claims, options} = work;
    let {claim} = work;
    const check = checkResize(claim, newSize, state.hasFailed);
    if (!check.isAllowed) return check.isUpdated;
    if (!check.isUpdated)
      claim = await claims.patchClaim(
        claim,
        {status: inProgress(claim.status), isForced: false},
        options.signal,
      );
    try {
      await volume.expandOnNode({newSize, oldSize}, options.signal);
    } catch (error) {
      options.signal.throwIfAborted();
      if (!(error instanceof ExpandError)) throw error;
      if (error.kind === 'unsupported' && check.isUpdated) return true;
      if (error.kind !== 'noDriver') {
        state.hasFailed = true;
        await this.#markFailed({...work, claim}, error, check.isInfeasibleOnFailure);
      }
      if (error.kind !== 'inUse') throw error;
      state.isInUse = true;
      return true;
    }
    reportSuccess(work);
    const status = finished(claim.status, newSize);
    if (!check.isUpdated) await claims.patchClaim(claim, {status, isForced: false}, options.signal);
    return true;
  }

  /** Adds the failure to the status of the claim; that this fails is only logged. */
  async #markFailed(
    {claim, claims, options}: Work,
    {kind, message}: ExpandError,
    isInfeasibleOnFailure: boolean,
  ): Promise<void> {
    const {clock, logger} = this.#services;
    const isInfeasible = kind === 'infeasible' || isInfeasibleOnFailure;
    const failure = {message, isInfeasible, now: formatRfc3339Seconds(clock.now())};
    const status = failed(claim.status, failure);
    try {
      await claims.patchClaim(claim, {status, isForced: true}, options.signal);
    } catch (error) {
      options.signal.throwIfAborted();
      rethrowUnexpected(error);
      const log = logger.forFile('volume-expander.ts');
      log.error(error, 'Failed to mark node expansion as failed', {claim: claim.metadata.name});
    }
  }
}

function reportSuccess(work: Work): void {
  const {name, pod} = work.volume;
  report(work, {
    ...{type: 'Normal', reason: 'FileSystemResizeSuccessful'},
    message: `MountVolume.NodeExpandVolume succeeded for volume ${JSON.stringify(name)} ${pod.spec.nodeName ?? ''}`,
  });
}

/** Reports something of the pod and of its claim. */
function report({volume, claim, claims, options}: Work, event: ClaimEvent): void {
  options.events?.({...event, pod: volume.pod});
  claims.claimEvent(claim, event);
}
