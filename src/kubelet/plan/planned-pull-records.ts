import type {PulledRecord} from '../images/records/pulled-record.js';
import {FilePullRecords, type PullRecords} from '../images/records/pull-records.js';

/** Reads the records of pulls, and only remembers what would be written. */
export class PlannedPullRecords implements PullRecords {
  readonly #real: FilePullRecords;
  readonly #pulled = new Map<string, PulledRecord>();

  constructor(rootDir: string) {
    this.#real = new FilePullRecords(rootDir);
  }

  /** A plan writes nothing, and is never interrupted in what it only pretends. */
  async writeIntent(): Promise<AsyncDisposable> {
    return {[Symbol.asyncDispose]: async () => undefined};
  }

  async hasIntent(image: string): Promise<boolean> {
    return await this.#real.hasIntent(image);
  }

  async deleteIntent(): Promise<void> {
    // A plan removes nothing.
  }

  async settleIntents(...[settle]: Parameters<PullRecords['settleIntents']>): Promise<void> {
    const images = await this.#real.abandonedIntents();
    if (images.length !== 0) await settle(images);
  }

  async readPulled(imageRef: string): Promise<PulledRecord | undefined> {
    return this.#pulled.get(imageRef) ?? (await this.#real.readPulled(imageRef));
  }

  async updatePulled(...[imageRef, change]: Parameters<PullRecords['updatePulled']>): Promise<void> {
    const changed = change(await this.readPulled(imageRef).catch(() => undefined));
    if (changed !== undefined) this.#pulled.set(imageRef, changed);
  }
}
