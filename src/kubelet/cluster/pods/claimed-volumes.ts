import {decodeWithSchema} from '../../../api/json/decode-api-object.js';
import {translatePersistentVolume} from '../../../api/csi-migration/migrated-volume.js';
import {persistentVolume, persistentVolumeClaim} from '../../../api/types/v1-persistent-volumes.js';
import type {PersistentVolume, PersistentVolumeClaim} from '../../../api/types/v1-persistent-volumes.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {Volume} from '../../../api/types/v1-volumes.js';
import {usedVolumes, volumeUses} from '../../../api/used-volumes.js';
import {messageOf, rethrowUnexpected, SystemError} from '../../../base/errors.js';
import type {ApiClient} from '../../../kube-api/index.js';
import type {ClaimedVolume} from '../../contract/volumes/claimed-volume.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {podRef} from '../../contract/pod-ref.js';
import {isVolumeOnNode} from '../../pods/node-fit/volume-node-affinity.js';
import {checkVolumeMode} from '../../contract/volumes/check-volume-mode.js';
import {checkClaim, checkClaimOwner, checkVolume} from './check-claim.js';

/** Options of {@link ClaimedVolumes}. */
export interface ClaimedVolumesOptions {
  readonly client: ApiClient;
  /** Returns name and labels of the node, with which the node affinity of volumes is compared. */
  readonly node: () => Pick<NodeFacts, 'nodeName' | 'labels'>;
}

/** Claim that a volume of a pod refers to. */
interface ClaimReference {
  readonly name: string;
  readonly readOnly: boolean;
  /** True for the claim of a generic ephemeral volume, which must belong to the pod. */
  readonly isEphemeral: boolean;
}

/**
 * PersistentVolumes of the volumes of pods (createVolumeSpec of the volume manager's populator). They are read before each
 * sync that mounts volumes. A volume that was found once remains known: its pod keeps running when its claim cannot be
 * read.
 */
export class ClaimedVolumes {
  readonly #options: ClaimedVolumesOptions;
  /** Volumes, or the reasons why there are none, by name, for each pod by UID. */
  readonly #results = new Map<string, ReadonlyMap<string, ClaimedVolume | SystemError>>();

  constructor(options: ClaimedVolumesOptions) {
    this.#options = options;
  }

  /** Reads the claims of the volumes that the pod's containers use. Rejects with the signal's reason and programming errors. */
  async load(pod: Pod, signal: AbortSignal): Promise<void> {
    const {uid} = podRef(pod);
    const known = this.#results.get(uid);
    const read = usedVolumes(pod).flatMap((volume) => {
      const claim = claimOf(pod, volume);
      return claim === undefined ? [] : [{volume, claim}];
    });
    if (read.length === 0) return;
    const results = await Promise.all(
      read.map(async ({volume, claim}): Promise<[string, ClaimedVolume | SystemError]> => {
        const result = await this.#resolve(pod, volume, claim, signal);
        const before = known?.get(volume.name);
        const isKept = result instanceof SystemError && before !== undefined;
        return [volume.name, isKept ? before : result];
      }),
    );
    this.#results.set(uid, new Map(results));
  }

  /** Returns the volume as read last; undefined for a volume without a claim. Throws SystemError if there is none. */
  get(pod: Pod, volume: Volume): ClaimedVolume | undefined {
    const claim = claimOf(pod, volume);
    if (claim === undefined) return undefined;
    const result = this.#results.get(podRef(pod).uid)?.get(volume.name);
    if (result === undefined) throw new SystemError(`${describeClaim(pod, claim)}: it was not read yet`);
    if (result instanceof SystemError) throw result;
    return result;
  }

  /** Forgets the volumes of pods for which `keep` returns false. */
  retain(keep: (uid: string) => boolean): void {
    for (const uid of this.#results.keys()) if (!keep(uid)) this.#results.delete(uid);
  }

  async #resolve(
    pod: Pod,
    volume: Volume,
    claim: ClaimReference,
    signal: AbortSignal,
  ): Promise<ClaimedVolume | SystemError> {
    try {
      const found = await this.#read(pod, claim, signal);
      const translated = translatePersistentVolume(found.volume);
      checkVolumeMode(translated, volume.name, volumeUses(pod));
      const isMigrated = translated !== found.volume;
      const isOnNode = isVolumeOnNode(translated, this.#options.node());
      return {...found, volume: translated, ...(isMigrated && {isMigrated}), isOnNode};
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof SystemError) return error;
      throw error;
    }
  }

  async #read(
    pod: Pod,
    claim: ClaimReference,
    signal: AbortSignal,
  ): Promise<Omit<ClaimedVolume, 'isOnNode'>> {
    const prefix = describeClaim(pod, claim);
    const found = await withPrefix(prefix, async () => this.#readClaim(pod, claim, signal));
    if (claim.isEphemeral) checkClaimOwner(pod, found);
    const volume = await withPrefix(prefix, async () => this.#readVolume(found, signal));
    const claimSize = found.status?.capacity?.['storage'];
    return {volume, claimSize, readOnly: claim.readOnly};
  }

  async #readClaim(pod: Pod, {name}: ClaimReference, signal: AbortSignal): Promise<PersistentVolumeClaim> {
    const path = `/api/v1/namespaces/${podRef(pod).namespace}/persistentvolumeclaims/${name}`;
    const raw = await this.#get(path, 'failed to fetch PVC from API server', signal);
    const claim = decodeWithSchema(persistentVolumeClaim, raw);
    checkClaim(claim);
    return claim;
  }

  async #readVolume(claim: PersistentVolumeClaim, signal: AbortSignal): Promise<PersistentVolume> {
    const {volumeName = ''} = claim.spec;
    const path = `/api/v1/persistentvolumes/${volumeName}`;
    const raw = await this.#get(path, `failed to fetch PV ${volumeName} from API server`, signal);
    const volume = decodeWithSchema(persistentVolume, raw);
    checkVolume(volume, claim.metadata.uid ?? '');
    return volume;
  }

  async #get(path: string, failure: string, signal: AbortSignal): Promise<unknown> {
    try {
      return await this.#options.client.request({method: 'GET', path}, signal);
    } catch (cause) {
      rethrowUnexpected(cause);
      throw new SystemError(`${failure}: ${messageOf(cause)}`, {cause});
    }
  }
}

async function withPrefix<T>(prefix: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    rethrowUnexpected(cause);
    throw new SystemError(`${prefix}: ${messageOf(cause)}`, {cause});
  }
}

function describeClaim(pod: Pod, {name}: ClaimReference): string {
  return `error processing PVC ${podRef(pod).namespace}/${name}`;
}

/** Returns the claim of a volume; that of a generic ephemeral volume is named after pod and volume. */
function claimOf(
  pod: Pod,
  {name, persistentVolumeClaim: source, ephemeral}: Volume,
): ClaimReference | undefined {
  if (source !== undefined)
    return {name: source.claimName, readOnly: source.readOnly ?? false, isEphemeral: false};
  if (ephemeral === undefined) return undefined;
  return {name: `${podRef(pod).name}-${name}`, readOnly: false, isEphemeral: true};
}
