import type {ImagePulledRecord} from '../managers/images/pull-manager/image-pulled-record.js';
import {
  FilePullRecordsAccessor,
  type PullRecordsAccessor,
} from '../managers/images/pull-manager/pull-records-accessor.js';

/** Reads pull records, and stores changes in memory only. Reads nothing for an offline plan, as on an empty node. */
export class PlannedPullRecords implements PullRecordsAccessor {
  readonly #real: FilePullRecordsAccessor | undefined;
  readonly #pulled = new Map<string, ImagePulledRecord>();

  constructor(rootDir: string, offline = false) {
    this.#real = offline ? undefined : new FilePullRecordsAccessor(rootDir);
  }

  /** Returns without writing: a plan cannot be interrupted during a pull. */
  async writeIntent(): Promise<AsyncDisposable> {
    return {[Symbol.asyncDispose]: async () => undefined};
  }

  async hasIntent(image: string): Promise<boolean> {
    return (await this.#real?.hasIntent(image)) ?? false;
  }

  async deleteIntent(): Promise<void> {
    // A plan removes nothing.
  }

  async recoverIntents(...[settle]: Parameters<PullRecordsAccessor['recoverIntents']>): Promise<void> {
    const images = (await this.#real?.listAbandonedIntents()) ?? [];
    if (images.length !== 0) await settle(images);
  }

  async readPulled(imageRef: string): Promise<ImagePulledRecord | undefined> {
    return this.#pulled.get(imageRef) ?? (await this.#real?.readPulled(imageRef));
  }

  async updatePulled(...[imageRef, change]: Parameters<PullRecordsAccessor['updatePulled']>): Promise<void> {
    const changed = change(await this.readPulled(imageRef).catch(() => undefined));
    if (changed !== undefined) this.#pulled.set(imageRef, changed);
  }
}
