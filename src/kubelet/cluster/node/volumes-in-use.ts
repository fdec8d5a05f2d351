import type {Node} from '../../../api/types/v1-node.js';
import {abortable} from '../../../base/async/abortable.js';
import {isOlder} from './node-status-updater.js';

/** Options of {@link VolumesInUse}. */
export interface VolumesInUseOptions {
  /** Returns the last Node of the watch. */
  readonly watched: () => Node | undefined;
  /** Updates the status of the node at once. */
  readonly statusChanged: () => void;
}

/**
 * Volumes that the API server is known to have in `volumesInUse` of the Node, so that their controllers do not detach them
 * (MarkVolumesAsReportedInUse). The watch alone does not say that: it can still show a volume that a later status, which was sent
 * already, lacks.
 */
export class VolumesInUse {
  readonly #options: VolumesInUseOptions;
  /** Volumes of the last computed status. */
  #computed: readonly string[] = [];
  #reported: ReadonlySet<string> = new Set();
  /** Node after the last report. */
  #stored: Node | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(options: VolumesInUseOptions) {
    this.#options = options;
  }

  /**
   * Notes the volumes of a status that may be sent next. Those that it lacks no longer count as reported: from its request on, the API
   * server may not have them, whatever the answer is.
   */
  computed(volumes: readonly string[]): void {
    this.#computed = volumes;
    this.#reported = new Set(volumes.filter((volume) => this.#reported.has(volume)));
  }

  /** True if the API server has all volumes of the last computed status. */
  get isComplete(): boolean {
    return this.#computed.every((volume) => this.#reported.has(volume));
  }

  /** Notes the Node that the API server has stored after the computed status was sent. */
  stored(node: Node): void {
    const inUse = new Set(node.status?.volumesInUse);
    this.#stored = node;
    this.#reported = new Set(this.#computed.filter((volume) => inUse.has(volume)));
    this.changed();
  }

  /** Called after each change of the watched Node. */
  changed(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  /** See CsiCluster. */
  async untilAttached(volume: string, signal: AbortSignal): Promise<string> {
    if (!this.#reported.has(volume)) this.#options.statusChanged();
    for (;;) {
      const device = this.#attachedDevice(volume);
      if (device !== undefined) return device;
      await abortable(
        new Promise<void>((resolve) => {
          this.#waiting.add(resolve);
        }),
        signal,
      );
    }
  }

  /** Returns the device of an attached volume that is not detached before the next status; undefined for others. */
  #attachedDevice(volume: string): string | undefined {
    if (!this.#reported.has(volume)) return undefined;
    const {volumesInUse = [], volumesAttached = []} = this.#newest()?.status ?? {};
    // Somebody else, or a late request, can have removed it.
    if (!volumesInUse.includes(volume)) return undefined;
    return volumesAttached.find(({name}) => name === volume)?.devicePath;
  }

  /** Returns the newer one of the watched and the stored Node; undefined if the watch shows none, also after its deletion. */
  #newest(): Node | undefined {
    const watched = this.#options.watched();
    const isOutdated = watched !== undefined && this.#stored !== undefined && isOlder(watched, this.#stored);
    return isOutdated ? this.#stored : watched;
  }
}
