import {statfs} from 'node:fs/promises';
import {runInBackground} from '../../../../base/async/background-work.js';
import {finishesWithin} from '../../../../base/async/deadline.js';
import type {Clock} from '../../../../base/clock.js';
import {isSystemCallError, rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import {treeUsage} from '../../../../base/fs/disk-usage.js';
import type {DriverUsage} from '../../../contract/volumes/driver-usage.js';
import type {PodVolumeState} from '../../../contract/volumes/pod-volume-state.js';
import {FilesystemStats} from './filesystem-stats.js';
import type {VolumeUsage} from './measured-volume.js';

/** Bounds on the walk through a volume. */
export const VOLUME_BOUNDS = {maxBytes: 2n ** 62n, maxEntries: 100_000};

/** Plugins with a filesystem of their own, which is measured as a whole; a kubelet does not measure Fibre Channel volumes. */
const MEASURED: ReadonlySet<string> = new Set(
  ['local-volume', 'nfs', 'iscsi'].map((name) => `kubernetes.io/${name}`),
);

type Usage = Pick<VolumeUsage, 'usedBytes' | 'inodesUsed' | 'capacity'>;

/** Time to wait for the volumes of a driver, in ms; two servers of filesystems that hang have half of it each. */
const WAIT_MS = 2000;
/** Servers that may hang at a time: each such call occupies a thread, of which Node.js has four. */
const MOST_WAITING = 2;

/**
 * Measures volumes of PersistentVolumeClaims and of CSI drivers: a filesystem as a whole (metricsStatFS), a directory by its
 * files, and a volume of a driver by asking it. As in a kubelet, hostPath volumes are not measured.
 */
export class ClaimUsageReader {
  readonly #clock: Clock;
  /** Plugins with a driver, and paths of filesystems, that have not answered in time: they are not asked before they do. */
  readonly #late = new Set<string>();
  /** Last measurement of each plugin; it never rejects. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the usage; undefined if the volume is not mounted, cannot be read, or has no measurement. */
  async measure(
    namespace: string,
    {name, plugin, path, claim, isMounted, measure, isFilesystem = false}: PodVolumeState,
    nowMs: number,
  ): Promise<VolumeUsage | undefined> {
    if (!isMounted) return undefined;
    const usage =
      measure === undefined
        ? await this.#usage(plugin, path, isFilesystem)
        : await this.#driverUsage(plugin, measure);
    return (
      usage && {
        ...{name, timeNanos: BigInt(nowMs) * 1_000_000n, isEphemeral: false},
        ...usage,
        ...(claim !== undefined && {claim: {name: claim, namespace}}),
      }
    );
  }

  /** Asks a driver, unless it has not answered an earlier question. */
  async #driverUsage(
    plugin = '',
    measure: NonNullable<PodVolumeState['measure']>,
  ): Promise<Usage | undefined> {
    const ask = async (): Promise<DriverUsage | undefined> => {
      try {
        return await measure();
      } catch (error) {
        rethrowUnexpected(error); // a volume without a measurement is left out
        return undefined;
      }
    };
    const found = await this.#inTurn(plugin, async (endsAt) => this.#inTime(plugin, ask, endsAt));
    if (found === undefined) return undefined;
    const {usedBytes, inodesUsed, ...capacity} = found;
    return {usedBytes, inodesUsed, capacity};
  }

  async #usage(plugin: string | undefined, path: string, isFilesystem: boolean): Promise<Usage | undefined> {
    if (plugin === 'kcri/claim-directory') return await directoryUsage(path);
    if (plugin === undefined || !(isFilesystem || MEASURED.has(plugin))) return undefined;
    return await this.#inTurn('filesystem', async () => {
      if ([...this.#late].filter(isPath).length >= MOST_WAITING) return undefined;
      const endsAt = this.#clock.monotonic() + WAIT_MS / MOST_WAITING;
      return await this.#inTime(path, async () => filesystemUsage(path), endsAt);
    });
  }

  /** Runs the measurements of a plugin one after the other; tells each when the time for all that wait is over. */
  async #inTurn<T>(plugin: string, measure: (endsAt: number) => Promise<T>): Promise<T> {
    const endsAt = this.#clock.monotonic() + WAIT_MS;
    const turn = (this.#last.get(plugin) ?? Promise.resolve()).then(async () => measure(endsAt));
    this.#last.set(
      plugin,
      turn.catch(() => undefined), // the caller sees the error
    );
    return await turn;
  }

  /** Measures until a time of the monotonic clock; `name` is late from then until the measurement ends. */
  async #inTime<T>(name: string, measure: () => Promise<T>, endsAt: number): Promise<T | undefined> {
    const leftMs = endsAt - this.#clock.monotonic();
    if (this.#late.has(name) || leftMs <= 0) return undefined;
    const work = measure();
    const limit = new AbortController();
    if (await finishesWithin(work, leftMs, this.#clock, limit.signal)) return await work;
    this.#late.add(name);
    runInBackground(
      'volume stats',
      work.finally(() => this.#late.delete(name)),
    );
    return undefined;
  }
}

/** Distinguishes the paths of filesystems from the names of plugins. */
function isPath(name: string): boolean {
  return name.startsWith('/');
}

async function directoryUsage(path: string): Promise<Usage | undefined> {
  try {
    const {bytes, inodes} = await treeUsage(path, VOLUME_BOUNDS);
    return {usedBytes: bytes, inodesUsed: inodes, capacity: await new FilesystemStats().capacity(path)};
  } catch (error) {
    if (error instanceof SystemError) return undefined;
    throw error;
  }
}

async function filesystemUsage(path: string): Promise<Usage | undefined> {
  try {
    const {bsize, bavail, blocks, bfree, files, ffree} = await statfs(path, {bigint: true});
    return {
      usedBytes: (blocks - bfree) * bsize,
      inodesUsed: files - ffree,
      capacity: {
        ...{availableBytes: bavail * bsize, capacityBytes: blocks * bsize},
        ...{inodes: files, inodesFree: ffree},
      },
    };
  } catch (error) {
    if (isSystemCallError(error)) return undefined;
    throw error;
  }
}
