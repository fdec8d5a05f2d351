import {randomUUID} from 'node:crypto';
import {existsSync} from 'node:fs';
import type {Pod} from '../../../../api/types/v1-pod.js';
import type {PersistentVolume} from '../../../../api/types/v1-persistent-volumes.js';
import type {Quantity} from '../../../../api/types/v1-meta.js';
import type {StorageClass} from '../../../../api/types/v1-storage.js';
import type {Clock} from '../../../../base/clock.js';
import {KcriError, messageOf, rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import type {GrpcCode} from '../../../../cri/index.js';
import {podDir, type NodeFacts} from '../../../contract/node-facts.js';
import type {EventSink} from '../../../contract/pod-event.js';
import type {ClaimToProvision} from '../../../contract/volumes/claimed-volume.js';
import type {ClaimRef} from '../../../contract/volumes/resized-claim.js';
import type {CsiVolumes} from '../../../contract/volumes/csi-volumes.js';
import {CsiCallError} from '../csi/csi-driver-client.js';
import {attributesProblem} from './claim-attributes.js';
import {classNotFound, newVolumeFor, persistentVolumeOf} from './provisioned-pv.js';
import {
  claimKey,
  claimSizeOf,
  findBoundVolume,
  ProvisionedVolumeStore,
  type ProvisionedVolume,
} from './provisioned-volume-store.js';
import {VolumeModifier} from './volume-modifier.js';
import {VolumeResizer, type RecordEvent} from './volume-resizer.js';
import {findUsedVolumes, isStaged} from './provisioned-volume-usage.js';

/** Options of {@link VolumeProvisioner}. */
export interface VolumeProvisionerOptions {
  readonly node: Pick<NodeFacts, 'rootDir'>;
  readonly clock: Clock;
  readonly manager: ProvisionedVolume['manager'];
  /** Returns the CSI volumes of this process. */
  readonly csi: () => CsiVolumes | undefined;
}

/** The volume of a claim. */
export interface BoundVolume {
  readonly volume: PersistentVolume;
  /** Size in the status of the claim: less than that of the volume until it is enlarged on the node. */
  readonly claimSize: Quantity | undefined;
  /** True if the driver's controller enlarges it, or changes its attributes. */
  readonly isGrowing: boolean;
}

/** A volume that was reclaimed: its claim, and what happened to it. */
export interface ReclaimedVolume {
  readonly name: string;
  readonly claim: string;
  readonly isRetained: boolean;
}

/** A volume that its driver has created. */
type CreatedVolume = ProvisionedVolume & {readonly volume: PersistentVolume};

/** Time for which the pods of a daemon wait until a volume is enlarged, in ms: longer than most drivers need. */
const GROWTH_WAIT_MS = 5000;

/**
 * Has CSI drivers of this node create volumes for claims, and delete them, as a cluster's external-provisioner and PersistentVolume
 * controller do. A volume is stored before its driver is called, so that none is forgotten if this process is killed.
 */
export class VolumeProvisioner {
  readonly #options: VolumeProvisionerOptions;
  readonly #store: ProvisionedVolumeStore;
  /** Volumes of the claims that this process has asked for. */
  readonly #bound = new Map<string, BoundVolume>();
  readonly #resizer: VolumeResizer;
  readonly #modifier: VolumeModifier;

  constructor(options: VolumeProvisionerOptions) {
    this.#options = options;
    this.#store = new ProvisionedVolumeStore(options.node.rootDir);
    const {clock, manager} = options;
    // A command that has ended cannot enlarge anything on the node.
    const waitMs = manager === 'kubelet' ? GROWTH_WAIT_MS : Infinity;
    const services = {store: this.#store, csi: () => this.#csi(), clock, waitMs};
    this.#resizer = new VolumeResizer(services);
    this.#modifier = new VolumeModifier(services);
  }

  /**
   * Returns the volume of a claim, which is created unless it exists, enlarged if the claim asks for more, and changed if the claim
   * names other attributes; a daemon does not wait for long for the last two. Rejects with SystemError, after an event of the provisioner, and with the signal's reason.
   */
  async provision(
    pod: Pod,
    claim: ClaimToProvision,
    events: EventSink,
    signal: AbortSignal,
  ): Promise<BoundVolume> {
    const event: RecordEvent = (type, reason, message) => {
      events({type, reason, message, pod});
    };
    const found = await this.#findOrCreate(claim, event, signal);
    const resized = await this.#resizer.resize(found, claim, event, signal);
    const modified = await this.#modifier.modify(resized.record, claim, event, signal);
    const record = modified ?? resized.record;
    const bound = {
      ...{volume: record.volume ?? found.volume, claimSize: claimSizeOf(record)},
      isGrowing: resized.isGrowing || modified === undefined,
    };
    this.#bound.set(boundKey(claimKey(claim), claim), bound);
    return bound;
  }

  /** Returns the volume of a claim, which is created unless it exists. Rejects like `provision`. */
  async #findOrCreate(
    claim: ClaimToProvision,
    event: RecordEvent,
    signal: AbortSignal,
  ): Promise<CreatedVolume> {
    const key = claimKey(claim);
    await using _lock = await this.#store.lockClaim(key, signal);
    const known = findBoundVolume(await this.#store.listOf(key), claim);
    if (known !== undefined && isCreated(known)) return known;
    const storageClass = await this.#requireClass(claim, event);
    const name = known?.name ?? `pvc-${randomUUID()}`;
    const request = newVolumeFor(name, claim, storageClass);
    const {requiredBytes, limitBytes} = request;
    const record: ProvisionedVolume = {
      ...{version: 1, name, claim: key, ownerUid: claim.ownerUid, manager: this.#options.manager},
      state: 'Creating',
      request: {...request, requiredBytes: String(requiredBytes), limitBytes: String(limitBytes)},
      reclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      claimSpec: claim.spec,
    };
    await this.#store.put(record);
    event('Normal', 'Provisioning', `External provisioner is provisioning volume for claim "${key}"`);
    try {
      const created = await this.#csi().createVolume(request, signal);
      const volume = persistentVolumeOf(request, created, claim, storageClass);
      const bound: CreatedVolume = {...record, ...boundStatus(volume), state: 'Bound', volume};
      await this.#store.put(bound);
      event('Normal', 'ProvisioningSucceeded', `Successfully provisioned volume ${name}`);
      return bound;
    } catch (cause) {
      signal.throwIfAborted();
      throw await this.#creationFailure(record, storageClass, cause, event);
    }
  }

  /** Reports whether a volume was created for a claim: then it has no other one, whatever the manifests say now. */
  async isProvisioned(claim: ClaimRef): Promise<boolean> {
    return findBoundVolume(await this.#store.listOf(claimKey(claim)), claim)?.volume !== undefined;
  }

  /** Returns the volume of a claim, once this process has provisioned it. */
  boundVolume(claim: ClaimRef & Pick<ClaimToProvision, 'ownerUid'>): BoundVolume | undefined {
    return this.#bound.get(boundKey(claimKey(claim), claim));
  }

  /** Returns the class of a claim whose driver can be called. Rejects with SystemError, after an event. */
  async #requireClass(claim: ClaimToProvision, event: RecordEvent): Promise<StorageClass> {
    const {storageClass} = claim;
    if (storageClass === undefined) {
      const [message, hint] = classNotFound(claim);
      event('Warning', 'ProvisioningFailed', message);
      throw new SystemError(message, hint);
    }
    const unsupported = unsupportedPart(claim);
    if (unsupported !== undefined) {
      const message = `claim ${JSON.stringify(claim.name)} has ${unsupported}, which kcri does not provide without an API server`;
      event('Warning', 'ProvisioningFailed', message);
      throw new SystemError(message, {
        hint: `remove ${unsupported} from the claim, or add a PersistentVolume`,
      });
    }
    const problem = attributesProblem(claim, storageClass.provisioner);
    if (problem !== undefined) {
      const message = `failed to provision volume with StorageClass "${storageClass.metadata.name}": ${problem}`;
      event('Warning', 'ProvisioningFailed', message);
      throw new SystemError(message);
    }
    if (!(await this.#isReady(storageClass.provisioner))) {
      const message = waitingFor(storageClass.provisioner);
      event('Normal', 'ExternalProvisioning', message);
      throw unbound(claim, message, storageClass.provisioner);
    }
    return storageClass;
  }

  /**
   * Returns the error of a volume that was not created, after an event. Forgets it only if the driver has refused the request: after
   * any other error it may exist, and the name of the next request must be the same.
   */
  async #creationFailure(
    record: ProvisionedVolume,
    {metadata}: StorageClass,
    cause: unknown,
    event: RecordEvent,
  ): Promise<SystemError> {
    rethrowUnexpected(cause);
    if (isRefusal(cause)) await this.#store.delete(record);
    const message = `failed to provision volume with StorageClass "${metadata.name}": ${messageOf(cause)}`;
    event('Warning', 'ProvisioningFailed', message);
    return new SystemError(message, {cause, hint: cause instanceof KcriError ? cause.hint : undefined});
  }

  /**
   * Deletes volumes that are not wanted, or keeps them with the policy Retain; those of a pod once its directory is gone. Volumes
   * that pods use are left alone. Resolves also with the errors of the volumes that cannot be deleted now.
   */
  async reclaim(
    isWanted: (volume: ProvisionedVolume) => boolean,
    signal?: AbortSignal,
  ): Promise<{readonly reclaimed: readonly ReclaimedVolume[]; readonly errors: readonly KcriError[]}> {
    const reclaimed: ReclaimedVolume[] = [];
    const errors: KcriError[] = [];
    for (const {claim, name} of await this.#unwanted(isWanted))
      try {
        await using _lock = await this.#store.lockClaim(claim, signal);
        // It may have got a user meanwhile.
        const found = (await this.#unwanted(isWanted)).find((one) => one.name === name);
        if (found === undefined || !(await this.#isUnstaged(found, signal))) continue;
        reclaimed.push({name, claim, isRetained: await this.#remove(found, signal)});
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof KcriError)) throw error;
        const message = `cannot delete the volume "${name}" of the claim "${claim}": ${error.message}`;
        errors.push(new SystemError(message, {cause: error, hint: error.hint}));
      }
    return {reclaimed, errors};
  }

  /** Deletes the volumes of a pod whose directory is gone. Rejects with SystemError and the signal's reason. */
  async reclaimOf(uid: string, signal?: AbortSignal): Promise<void> {
    const hasOwn = (await this.#store.list()).some(({ownerUid}) => ownerUid === uid);
    if (!hasOwn) return;
    const {errors} = await this.reclaim((volume) => volume.ownerUid !== uid, signal);
    const [first] = errors;
    if (first !== undefined) throw first;
  }

  async #unwanted(isWanted: (volume: ProvisionedVolume) => boolean): Promise<readonly ProvisionedVolume[]> {
    const {node} = this.#options;
    const unwanted = (await this.#store.list()).filter((volume) => {
      if (volume.state === 'Released') return false;
      const {ownerUid} = volume;
      return !isWanted(volume) && (ownerUid === undefined || !existsSync(podDir(node, ownerUid)));
    });
    if (unwanted.length === 0) return [];
    const isUsed = await findUsedVolumes(node);
    return unwanted.filter((volume) => !isUsed(volume));
  }

  /** Reports whether a volume is not staged on the node. A command unstages it: what has staged it may have been interrupted. */
  async #isUnstaged(record: ProvisionedVolume, signal?: AbortSignal): Promise<boolean> {
    const source = record.volume?.spec.csi;
    if (source === undefined) return true;
    const {node, csi} = this.#options;
    const {driver, volumeHandle: handle = ''} = source;
    const {blockName} = record.request;
    if (isStaged(node, record)) await csi()?.unstageUnused?.({driver, handle, blockName}, signal);
    return !isStaged(node, record);
  }

  /** Deletes a volume, and returns true if it is kept instead. */
  async #remove(record: ProvisionedVolume, signal?: AbortSignal): Promise<boolean> {
    const {request, reclaimPolicy} = record;
    this.#bound.delete(boundKey(record.claim, record));
    if (reclaimPolicy === 'Retain' && record.volume !== undefined) {
      await this.#store.put({...record, state: 'Released'});
      return true;
    }
    const {driver, secret} = request;
    const handle = record.volume?.spec.csi?.volumeHandle ?? (await this.#findHandle(record, signal));
    if (handle !== undefined) await this.#csi().deleteVolume({driver, handle, secret}, signal);
    await this.#store.delete(record);
    return false;
  }

  /** Asks the driver again for a volume that it may have created; undefined if it refuses to. */
  async #findHandle({request}: ProvisionedVolume, signal?: AbortSignal): Promise<string | undefined> {
    const {requiredBytes, limitBytes, ...others} = request;
    const full = {...others, requiredBytes: BigInt(requiredBytes), limitBytes: BigInt(limitBytes)};
    try {
      return (await this.#csi().createVolume(full, signal ?? new AbortController().signal)).handle;
    } catch (error) {
      if (isRefusal(error)) return undefined;
      throw error;
    }
  }

  async #isReady(driver: string): Promise<boolean> {
    return (await this.#options.csi()?.isRegistered(driver)) === true;
  }

  #csi(): CsiVolumes {
    const csi = this.#options.csi();
    if (csi === undefined) throw new SystemError('no CSI driver can be called yet');
    return csi;
  }
}

/** Codes of a request that a driver refuses before it creates anything. */
const REFUSALS: ReadonlySet<GrpcCode | undefined> = new Set<GrpcCode | undefined>([
  ...(['INVALID_ARGUMENT', 'OUT_OF_RANGE', 'NOT_FOUND', 'UNIMPLEMENTED'] as const),
  ...(['PERMISSION_DENIED', 'UNAUTHENTICATED'] as const),
]);

/** Reports whether a driver has refused to create a volume. */
function isRefusal(error: unknown): boolean {
  return error instanceof CsiCallError && REFUSALS.has(error.grpcCode);
}

/** Returns the status of the claim of a new volume with attributes; without them, it has none. */
function boundStatus({spec}: PersistentVolume): Pick<ProvisionedVolume, 'claimStatus'> {
  const {volumeAttributesClassName, capacity = {}} = spec;
  if (volumeAttributesClassName === undefined) return {};
  return {claimStatus: {capacity, currentVolumeAttributesClassName: volumeAttributesClassName}};
}

function isCreated(record: ProvisionedVolume): record is CreatedVolume {
  return record.volume !== undefined;
}

function boundKey(key: string, {ownerUid = ''}: {readonly ownerUid?: string | undefined}): string {
  return `${key} ${ownerUid}`;
}

/** Returns the text of the PersistentVolume controller for a claim whose provisioner does nothing. */
function waitingFor(provisioner: string): string {
  return `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`;
}

function unbound(claim: ClaimToProvision, reason: string, provisioner: string): SystemError {
  const what =
    provisioner === 'kubernetes.io/no-provisioner'
      ? `add a PersistentVolume for the claim "${claim.name}" to the manifests`
      : `start the CSI driver "${provisioner}" on this node; without a StorageClass in the manifests, the claim is a directory`;
  return new SystemError(`pod has unbound PersistentVolumeClaim "${claim.name}": ${reason}`, {hint: what});
}

/** Returns what a claim asks for that volumes cannot have without an API server. */
function unsupportedPart({spec}: ClaimToProvision): string | undefined {
  return spec.dataSource !== undefined || spec.dataSourceRef !== undefined ? 'a data source' : undefined;
}
