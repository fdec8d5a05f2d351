import type {Status} from '../../containerd/gen/types.js';
import type {ContainerdConnection} from '../../containerd/connect-containerd.js';
import type {Clock} from '../../base/clock.js';

/** Download of a blob of an image. */
export interface Download {
  /** First digits of its digest. */
  readonly id: string;
  readonly kind: string;
  readonly doneBytes: number;
  /** Size in bytes; 0 if unknown. */
  readonly totalBytes: number;
  readonly isDone: boolean;
}

/** Times of a pull in milliseconds, as far as they were observed. */
export interface PullTimes {
  readonly pulledMs: number;
  /** Time until the last download ended; undefined if none was seen, as for an image that is present. */
  readonly downloadMs: number | undefined;
  /** Time from then to the end, in which the last layers are unpacked. */
  readonly unpackMs: number | undefined;
  /** Bytes of the downloads that were seen. */
  readonly downloadedBytes: number;
}

/** Names of containerd's ingests of a pull: `layer-sha256:…` (remotes.MakeRefKey). */
const INGEST = /^(layer|config|manifest|index)-sha256:([0-9a-f]{12})/;

/** Follows the downloads of a pull by the ingests that containerd lists. */
export class PullProgress {
  readonly #startedAtMs: number;
  readonly #downloads = new Map<string, Download>();
  #downloadedAtMs: number | undefined;

  constructor(startedAtMs: number) {
    this.#startedAtMs = startedAtMs;
  }

  /** Takes the ingests that exist now; those that were seen before and no longer exist are complete. */
  update(statuses: readonly Status[], nowMs: number): void {
    for (const status of statuses) if (this.#isOfPull(status)) this.#take(status, nowMs);
    const present = new Set(statuses.map(({ref}) => ref));
    for (const [ref, download] of this.#downloads)
      if (!present.has(ref) && !download.isDone) {
        const doneBytes = Math.max(download.totalBytes, download.doneBytes);
        this.#downloads.set(ref, {...download, doneBytes, isDone: true});
        this.#downloadedAtMs = nowMs;
      }
  }

  /** Reports whether an ingest changed during the pull: those of an interrupted pull remain for a while. */
  #isOfPull({ref, updatedAt}: Status): boolean {
    return this.#downloads.has(ref) || Number(updatedAt?.seconds ?? 0n) * 1000 >= this.#startedAtMs - 1000;
  }

  #take({ref, offset, total}: Status, nowMs: number): void {
    const [, kind = '', id = ''] = INGEST.exec(ref) ?? [];
    if (kind === '') return;
    this.#downloads.set(ref, {id, kind, doneBytes: Number(offset), totalBytes: Number(total), isDone: false});
    this.#downloadedAtMs = nowMs;
  }

  /** Downloads in the order in which they began. */
  get downloads(): readonly Download[] {
    return [...this.#downloads.values()];
  }

  /** True if all downloads that were seen are complete. */
  get isDownloaded(): boolean {
    return this.#downloads.size > 0 && this.downloads.every(({isDone}) => isDone);
  }

  /** Returns the times of a pull that ended at `nowMs`. */
  times(nowMs: number): PullTimes {
    const downloadedAtMs = this.#downloadedAtMs;
    return {
      pulledMs: nowMs - this.#startedAtMs,
      downloadMs: downloadedAtMs === undefined ? undefined : downloadedAtMs - this.#startedAtMs,
      unpackMs: downloadedAtMs === undefined ? undefined : nowMs - downloadedAtMs,
      downloadedBytes: this.downloads.reduce((sum, {doneBytes}) => sum + doneBytes, 0),
    };
  }
}

const POLL_MS = 200;

/**
 * Updates the progress until the signal aborts, and calls `onUpdate` after each update. Resolves early on a runtime that
 * does not list downloads. Never rejects: progress is not needed for the pull.
 */
export async function followPull(
  connect: () => Promise<ContainerdConnection>,
  progress: PullProgress,
  {
    clock,
    signal,
    onUpdate,
  }: {readonly clock: Clock; readonly signal: AbortSignal; readonly onUpdate: () => void},
): Promise<void> {
  try {
    const {content} = await connect();
    for (;;) {
      const {statuses} = await content.listStatuses({}, {signal});
      progress.update(statuses, clock.now());
      onUpdate();
      await clock.sleep(POLL_MS, signal);
    }
  } catch {
    // The pull has ended, or the runtime is not containerd.
  }
}
