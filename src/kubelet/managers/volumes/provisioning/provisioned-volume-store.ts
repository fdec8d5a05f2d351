import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {computeUuid} from '../../../../api/container-hash.js';
import type {PersistentVolumeClaimSpec} from '../../../../api/types/v1-attached-volumes.js';
import type {Quantity} from '../../../../api/types/v1-meta.js';
import type {PersistentVolume} from '../../../../api/types/v1-persistent-volumes.js';
import {removeAtomicFile, writeFileAtomic} from '../../../../base/fs/atomic-write.js';
import {SystemError} from '../../../../base/errors.js';
import {ifPresent, listNames, makeDirectories, withFileErrors} from '../../../../base/fs/files.js';
import {isObject} from '../../../../base/is-object.js';
import {acquireLock, type Lock} from '../../../../base/fs/lock.js';
import {stateDirectoriesTo, stateDirectory} from '../../../../base/fs/state-directory.js';
import type {ClaimToProvision} from '../../../contract/volumes/claimed-volume.js';
import type {NewCsiVolume} from '../../../contract/volumes/csi-volumes.js';
import type {ClaimRef, ResizedClaimStatus} from '../../../contract/volumes/resized-claim.js';

/** A volume that kcri has had a CSI driver create for a claim. */
export interface ProvisionedVolume {
  readonly version: 1;
  /** Name of the PersistentVolume: `pvc-UUID`. */
  readonly name: string;
  /** Claim as `namespace/name`. */
  readonly claim: string;
  /** UID of the pod of a generic ephemeral volume. */
  readonly ownerUid?: string | undefined;
  /** Process that deletes it: a kubelet when the claim is gone, or commands. */
  readonly manager: 'kubelet' | 'sync';
  /** `Creating` until the driver has answered; `Released` after the claim, with the policy Retain. */
  readonly state: 'Creating' | 'Bound' | 'Released';
  readonly request: Omit<NewCsiVolume, 'requiredBytes' | 'limitBytes'> & {
    readonly requiredBytes: string;
    readonly limitBytes: string;
  };
  readonly reclaimPolicy: string;
  /** Claim as it was accepted last: other changes than those that the API server accepts do not count. */
  readonly claimSpec?: PersistentVolumeClaimSpec | undefined;
  /** The volume, once it is created. */
  readonly volume?: PersistentVolume | undefined;
  /** Status of the claim, once the volume was enlarged. */
  readonly claimStatus?: ResizedClaimStatus;
}

const SUFFIX = '.json';

/**
 * Store of the volumes that drivers have created, one file each: `<rootDir>/kcri/volumes/<name>.json`. Only root can read them, and
 * writes are atomic and durable. Methods reject with SystemError.
 */
export class ProvisionedVolumeStore {
  readonly #rootDir: string;
  /** Claims of the volumes that were read, by the names of their files: a volume never has another one. */
  readonly #claims = new Map<string, string>();
  readonly directory: string;

  constructor(rootDir: string) {
    this.#rootDir = rootDir;
    this.directory = join(stateDirectory(rootDir), 'volumes');
  }

  async put(volume: ProvisionedVolume): Promise<void> {
    await makeDirectories(stateDirectoriesTo(this.#rootDir, this.directory));
    await writeFileAtomic(this.#path(volume.name), `${JSON.stringify(volume)}\n`, 0o600);
  }

  /** Locks a claim, `namespace/name`, while its volume is created, enlarged or deleted. Rejects with the signal's reason. */
  async lockClaim(key: string, signal?: AbortSignal): Promise<Lock> {
    return await acquireLock(join(this.directory, `${computeUuid(key)}.lock`), {signal});
  }

  async delete({name}: Pick<ProvisionedVolume, 'name'>): Promise<void> {
    await removeAtomicFile(this.#path(name));
  }

  /** Rejects if a file is damaged: a volume that is forgotten would be created again, without its data. */
  async list(): Promise<readonly ProvisionedVolume[]> {
    return await this.#readThose(() => true);
  }

  /** Returns the volumes of a claim, `namespace/name`. Rejects like list, but does not read the files of other claims again. */
  async listOf(key: string): Promise<readonly ProvisionedVolume[]> {
    return await this.#readThose((claim) => claim === key);
  }

  /**
   * Returns a volume that has a claim, by the name of its PersistentVolume; undefined if it was deleted or released. Rejects if its file
   * is damaged.
   */
  async getBound(name: string): Promise<ProvisionedVolume | undefined> {
    const found = await this.#read(this.#path(name));
    return found?.state === 'Bound' ? found : undefined;
  }

  /** Reads the volumes of these claims, and those whose claims are not known yet. */
  async #readThose(isWanted: (claim: string) => boolean): Promise<readonly ProvisionedVolume[]> {
    const names = (await listNames(this.directory)).filter(
      (one) => one.endsWith(SUFFIX) && !one.startsWith('.'),
    );
    const present = new Set(names);
    for (const name of this.#claims.keys()) if (!present.has(name)) this.#claims.delete(name);
    const read = async (name: string): Promise<ProvisionedVolume | undefined> => {
      const known = this.#claims.get(name);
      if (known !== undefined && !isWanted(known)) return undefined;
      const volume = await this.#read(join(this.directory, name));
      if (volume === undefined) return undefined;
      this.#claims.set(name, volume.claim);
      return isWanted(volume.claim) ? volume : undefined;
    };
    return (await Promise.all(names.map(read))).flatMap((one) => one ?? []);
  }

  async #read(path: string): Promise<ProvisionedVolume | undefined> {
    const text = await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8')));
    if (text === undefined) return undefined;
    const value = parse(text);
    if (value === undefined || this.#path(value.name) !== path)
      throw new SystemError(`invalid state of a volume in ${JSON.stringify(path)}`, {
        hint: 'restore the file, or delete it and the volume of the CSI driver',
      });
    return value;
  }

  #path(name: string): string {
    return join(this.directory, `${name}${SUFFIX}`);
  }
}

/** Returns how a claim is stored. */
export function claimKey({namespace, name}: ClaimRef): string {
  return `${namespace}/${name}`;
}

/** Returns the size of a volume in the status of its claim: the one that it has on the node. */
export function claimSizeOf({volume, claimStatus}: ProvisionedVolume): Quantity | undefined {
  return claimStatus?.capacity?.['storage'] ?? volume?.spec.capacity?.['storage'];
}

/** Returns the volume of a claim, which may not be created yet. */
export function findBoundVolume(
  volumes: readonly ProvisionedVolume[],
  claim: Pick<ClaimToProvision, 'namespace' | 'name' | 'ownerUid'>,
): ProvisionedVolume | undefined {
  const key = claimKey(claim);
  return volumes.find(
    (one) => one.claim === key && one.state !== 'Released' && one.ownerUid === claim.ownerUid,
  );
}

function parse(text: string): ProvisionedVolume | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isValid =
      isObject(value) &&
      value['version'] === 1 &&
      ['name', 'claim', 'state'].every((key) => typeof value[key] === 'string') &&
      isObject(value['request']);
    return isValid ? (value as unknown as ProvisionedVolume) : undefined;
  } catch {
    return undefined;
  }
}
