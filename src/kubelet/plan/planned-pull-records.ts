import type {PulledRecord} from '../images/records/pulled-record.js';
import {FilePullRecords, type PullRecords} from '../images/records/pull-records.js';

/** Reads the records of pulls, and only remembers what would be written. */
export class PlannedPullRecords implements PullRecords {
  readonly #real: FilePullRecords;
  readonly #pulled = new Map<string, PulledRecord>();

  constructor(rootDir: string) {
    this.#real = new FilePullRecords(rootDir);
  }

  async writeIntent(): Promise<void> {
    // A plan writes nothing, and is never interrupted in what it only pretends.
  }

  async hasIntent(image: string): Promise<boolean> {
    return await this.#real.hasIntent(image);
  }

  async deleteIntent(): Promise<void> {
    // A plan removes nothing.
  }

  async listIntents(): Promise<readonly string[]> {
    return await this.#real.listIntents();
  }

  async readPulled(imageRef: string): Promise<PulledRecord | undefined> {
    return this.#pulled.get(imageRef) ?? (await this.#real.readPulled(imageRef));
  }

  async updatePulled(...[imageRef, change]: Parameters<PullRecords['updatePulled']>): Promise<void> {
    const changed = change(await this.readPulled(imageRef).catch(() => undefined));
    if (changed !== undefined) this.#pulled.set(imageRef, changed);
  }
}
