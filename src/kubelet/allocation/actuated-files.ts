import type {ResourceRequirements} from '../../api/v1-meta.js';
import type {PodUid} from '../../cri/index.js';
import {sameResources, type ActuatedResources, type PodAllocation} from '../container/pod-allocation.js';
import {PodFiles} from '../events/pod-files.js';

/** A PodAllocation as JSON has it. */
interface Kept {
  readonly pod?: ResourceRequirements;
  readonly containers: readonly (readonly [string, ResourceRequirements])[];
}

/** Where it is kept what pods were last given, each in `<rootDir>/resources/<uid>.json`. Rejects with SystemError. */
export interface ActuatedStore {
  read(uid: PodUid): Promise<PodAllocation | undefined>;
  write(uid: PodUid, actuated: PodAllocation): Promise<void>;
  delete(uid: PodUid): Promise<void>;
}

export class ActuatedFiles implements ActuatedStore {
  readonly #files: PodFiles<Kept>;

  constructor(rootDir: string) {
    this.#files = new PodFiles(rootDir, 'resources', ({containers}) => Array.isArray(containers));
  }

  async read(uid: PodUid): Promise<PodAllocation | undefined> {
    const kept = (await this.#files.read(uid))?.value;
    return kept && {pod: kept.pod, containers: new Map(kept.containers)};
  }

  async write(uid: PodUid, {pod, containers}: PodAllocation): Promise<void> {
    await this.#files.write(uid, {...(pod && {pod}), containers: [...containers]});
  }

  async delete(uid: PodUid): Promise<void> {
    await this.#files.delete(uid);
  }
}

/** For a plan: it reads what others keep, unless nothing is there yet, and what it keeps itself ends with it. */
export function plannedActuated(store: ActuatedStore, offline: boolean): ActuatedStore {
  const planned = new Map<PodUid, PodAllocation>();
  return {
    read: async (uid) => planned.get(uid) ?? (offline ? undefined : await store.read(uid)),
    write: async (uid, actuated) => void planned.set(uid, actuated),
    delete: async (uid) => void planned.delete(uid),
  };
}

const NOTHING: PodAllocation = {pod: undefined, containers: new Map()};

/** What one pod was last given; one process at a time works on it. */
export class PodActuated implements ActuatedResources {
  readonly #store: ActuatedStore;
  readonly #uid: PodUid;
  readonly #onFailure: (error: unknown) => void;
  #loaded = false;
  current: PodAllocation | undefined;

  /** `onFailure` is told what could not be kept: the next process may then do a resize once more. */
  constructor(store: ActuatedStore, uid: PodUid, onFailure: (error: unknown) => void) {
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
    if (before !== undefined && sameResources(before, resources)) return;
    await this.#set({pod, containers: new Map([...containers, [name, resources]])});
  }

  async setPod(resources: ResourceRequirements | undefined): Promise<void> {
    const {pod, containers} = this.current ?? NOTHING;
    if (!sameResources(pod, resources)) await this.#set({pod: resources, containers});
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
