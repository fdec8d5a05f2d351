import type {ResourceRequirements} from '../../../api/types/v1-meta.js';
import type {ParsedFiles} from '../../../base/fs/file-cache.js';
import type {PodUid} from '../../../cri/index.js';
import {areResourcesEqual} from '../../resources/pod-allocation.js';
import type {ActuatedResources, PodAllocation} from '../../contract/resources/actuated-resources.js';
import {PodFileStore} from '../history/pod-file-store.js';
import {podResourceCheckpointPath, type CheckpointedResources} from './checkpointed-resources.js';
import {readPodResourceCheckpoint, type PodResourceMap} from './pod-resource-checkpoint.js';

/** JSON form of a PodAllocation. */
interface StoredAllocation {
  readonly pod?: ResourceRequirements;
  readonly containers: readonly (readonly [string, ResourceRequirements])[];
}

/** Store of the actuated resources of pods. Methods reject with SystemError. */
export interface ActuatedResourcesBackend {
  read(uid: PodUid): Promise<PodAllocation | undefined>;
  write(uid: PodUid, actuated: PodAllocation): Promise<void>;
  delete(uid: PodUid): Promise<void>;
}

/**
 * Stores the actuated resources of each pod of `kcri sync` in `<rootDir>/kcri/resources/<uid>.json`, and reads those of other pods
 * from the daemon's checkpoint.
 */
export class ActuatedResourcesStore implements ActuatedResourcesBackend {
  readonly #rootDir: string;
  readonly #files: PodFileStore<StoredAllocation>;
  #checkpoint: Promise<PodResourceMap> | undefined;

  /** Creates the store of a root directory; `files` reads the files of pods. */
  constructor(rootDir: string, files?: ParsedFiles) {
    this.#rootDir = rootDir;
    this.#files = new PodFileStore(rootDir, 'resources', ({containers}) => Array.isArray(containers), files);
  }

  async read(uid: PodUid): Promise<PodAllocation | undefined> {
    const stored = (await this.#files.read(uid))?.value;
    if (stored !== undefined) return {pod: stored.pod, containers: new Map(stored.containers)};
    this.#checkpoint ??= this.#readCheckpoint();
    return (await this.#checkpoint).get(uid);
  }

  /** Reads the daemon's checkpoint; it is the daemon that reports invalid content. */
  async #readCheckpoint(): Promise<PodResourceMap> {
    const path = podResourceCheckpointPath(this.#rootDir, 'actuated');
    return (await readPodResourceCheckpoint(path)).resources;
  }

  async write(uid: PodUid, {pod, containers}: PodAllocation): Promise<void> {
    await this.#files.write(uid, {...(pod && {pod}), containers: [...containers]});
  }

  async delete(uid: PodUid): Promise<void> {
    await this.#files.delete(uid);
  }
}

/** Returns the store of a daemon: a write resolves when the checkpoint has it, or could not be written. */
export function createCheckpointStore(checkpoint: CheckpointedResources): ActuatedResourcesBackend {
  return {
    read: async (uid) => checkpoint.get(uid),
    write: async (uid, actuated) => {
      await checkpoint.set(uid, actuated).written();
    },
    delete: async (uid) => void checkpoint.delete(uid),
  };
}

/** Returns a store for a plan: it reads from `store` unless `offline`, and holds writes in memory only. */
export function createPlannedActuatedResources(
  store: ActuatedResourcesBackend,
  offline: boolean,
): ActuatedResourcesBackend {
  const planned = new Map<PodUid, PodAllocation>();
  return {
    read: async (uid) => planned.get(uid) ?? (offline ? undefined : await store.read(uid)),
    write: async (uid, actuated) => void planned.set(uid, actuated),
    delete: async (uid) => void planned.delete(uid),
  };
}

const NOTHING: PodAllocation = {pod: undefined, containers: new Map()};

/** Actuated resources of one pod; one process at a time works on it. */
export class PodActuatedResources implements ActuatedResources {
  readonly #store: ActuatedResourcesBackend;
  readonly #uid: PodUid;
  readonly #onFailure: (error: unknown) => void;
  #loaded = false;
  /** Containers of `current`, if this object created the map. */
  #own: Map<string, ResourceRequirements> | undefined;
  current: PodAllocation | undefined;

  /**
   * Creates the actuated resources of one pod. `onFailure` receives errors of writes, after which the next process may
   * repeat a resize.
   */
  constructor(store: ActuatedResourcesBackend, uid: PodUid, onFailure: (error: unknown) => void) {
    this.#store = store;
    this.#uid = uid;
    this.#onFailure = onFailure;
  }

  async load(): Promise<void> {
    if (this.#loaded) return;
    this.current = await this.#store.read(this.#uid);
    this.#loaded = true;
  }

  async setContainer(name: string, resources: ResourceRequirements): Promise<void> {
    const {pod, containers} = this.current ?? NOTHING;
    const before = containers.get(name);
    if (before !== undefined && areResourcesEqual(before, resources)) return;
    // A map of this object is extended in place: copying it for each container would take quadratic time.
    const own = containers === this.#own ? this.#own : new Map(containers);
    this.#own = own.set(name, resources);
    await this.#set({pod, containers: own});
  }

  async setPod(resources: ResourceRequirements | undefined): Promise<void> {
    const {pod, containers} = this.current ?? NOTHING;
    if (!areResourcesEqual(pod, resources)) await this.#set({pod: resources, containers});
  }

  async #set(actuated: PodAllocation): Promise<void> {
    this.current = actuated;
    try {
      await this.#store.write(this.#uid, actuated);
    } catch (error) {
      this.#onFailure(error);
    }
  }
}
