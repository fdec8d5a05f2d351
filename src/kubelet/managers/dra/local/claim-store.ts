import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {ResourceClaimSpec} from '../../../../api/types/v1-device-resources.js';
import type {ObjectMeta} from '../../../../api/types/v1-meta.js';
import type {ResourceClaimConsumerReference} from '../../../../api/types/v1-resource-claims.js';
import type {ContainerExtendedResourceRequest} from '../../../../api/types/v1-status.js';
import {removeAtomicFile, writeFileAtomic} from '../../../../base/fs/atomic-write.js';
import {SystemError} from '../../../../base/errors.js';
import {ifPresent, listNames, makeDirectories, withFileErrors} from '../../../../base/fs/files.js';
import {isObject} from '../../../../base/is-object.js';
import {stateDirectoriesTo, stateDirectory} from '../../../../base/fs/state-directory.js';
import type {Allocation} from '../allocation/allocation-types.js';

/** A claim that kcri has allocated devices for. */
export interface AllocatedClaim {
  readonly version: 1;
  /** Process that prepares it: a kubelet, or commands. */
  readonly manager: 'kubelet' | 'sync';
  /** The claim as an API server would have it. */
  readonly claim: {
    readonly metadata: ObjectMeta & {readonly uid: string; readonly name: string; readonly namespace: string};
    readonly spec: ResourceClaimSpec;
    readonly status: {
      readonly allocation: Allocation;
      readonly reservedFor: readonly ResourceClaimConsumerReference[];
    };
  };
  /** For which entry of a pod it was created; undefined for a claim of the manifests. */
  readonly generatedFor?: {
    readonly podUid: string;
    /** Name in spec.resourceClaims; undefined for the claim of the pod's extended resources. */
    readonly entry?: string | undefined;
    /** Which request has which extended resource of a container. */
    readonly mappings?: readonly ContainerExtendedResourceRequest[] | undefined;
  };
  /** What commands have prepared, as a checkpoint of the DRA manager with this claim. */
  readonly prepared?: string;
}

/** Where claims are stored. Methods reject with SystemError. */
export interface ClaimStorage {
  list(): Promise<readonly AllocatedClaim[]>;
  put(claim: AllocatedClaim): Promise<void>;
  delete(claim: AllocatedClaim): Promise<void>;
}

const SUFFIX = '.json';

/**
 * Store of allocated claims, one file each: `<rootDir>/kcri/resource-claims/<uid>.json`. Only root can read them, and writes are
 * atomic and durable: a device that is forgotten would be given to another pod too.
 */
export class ClaimStore implements ClaimStorage {
  readonly #rootDir: string;
  readonly directory: string;

  constructor(rootDir: string) {
    this.#rootDir = rootDir;
    this.directory = join(stateDirectory(rootDir), 'resource-claims');
  }

  async put(claim: AllocatedClaim): Promise<void> {
    await makeDirectories(stateDirectoriesTo(this.#rootDir, this.directory));
    await writeFileAtomic(this.#path(claim), `${JSON.stringify(claim)}\n`, 0o600);
  }

  async delete(claim: AllocatedClaim): Promise<void> {
    await removeAtomicFile(this.#path(claim));
  }

  /** Returns the claims, sorted by file name. Rejects if a file is damaged: its devices would be given away again. */
  async list(): Promise<readonly AllocatedClaim[]> {
    const names = (await listNames(this.directory)).filter(
      (name) => name.endsWith(SUFFIX) && !name.startsWith('.'),
    );
    const found = await Promise.all(
      names.toSorted().map(async (name) => this.#read(join(this.directory, name))),
    );
    return found.flatMap((one) => one ?? []);
  }

  async #read(path: string): Promise<AllocatedClaim | undefined> {
    const text = await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8')));
    if (text === undefined) return undefined;
    const value = parse(text);
    if (value === undefined || this.#path(value) !== path)
      throw new SystemError(`invalid state of a resource claim in ${JSON.stringify(path)}`, {
        hint: 'restore the file, or delete the pods that use the claim and then the file',
      });
    return value;
  }

  #path({claim}: AllocatedClaim): string {
    return join(this.directory, `${claim.metadata.uid}${SUFFIX}`);
  }
}

function parse(text: string): AllocatedClaim | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || value['version'] !== 1 || !isObject(value['claim'])) return undefined;
    const {metadata, spec, status} = value['claim'];
    const isValid =
      isObject(metadata) &&
      ['uid', 'name', 'namespace'].every((key) => typeof metadata[key] === 'string') &&
      isObject(spec) &&
      isObject(status) &&
      isObject(status['allocation']) &&
      Array.isArray(status['reservedFor']);
    return isValid ? (value as unknown as AllocatedClaim) : undefined;
  } catch {
    return undefined;
  }
}

/** Claims of a plan: those that are stored, and in memory what the plan would change. */
export class PlannedClaims implements ClaimStorage {
  readonly #load: () => Promise<readonly AllocatedClaim[]>;
  #claims: Map<string, AllocatedClaim> | undefined;

  constructor(load: () => Promise<readonly AllocatedClaim[]>) {
    this.#load = load;
  }

  async list(): Promise<readonly AllocatedClaim[]> {
    return [...(await this.#known()).values()];
  }

  async put(claim: AllocatedClaim): Promise<void> {
    (await this.#known()).set(claim.claim.metadata.uid, claim);
  }

  async delete({claim}: AllocatedClaim): Promise<void> {
    (await this.#known()).delete(claim.metadata.uid);
  }

  async #known(): Promise<Map<string, AllocatedClaim>> {
    this.#claims ??= new Map((await this.#load()).map((one) => [one.claim.metadata.uid, one]));
    return this.#claims;
  }
}
