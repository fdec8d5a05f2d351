import {statfs} from 'node:fs/promises';
import {finishesWithin} from '../../../../base/async/deadline.js';
import type {Clock} from '../../../../base/clock.js';
import {isSystemCallError, rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import {treeUsage} from '../../../../base/fs/disk-usage.js';
import type {PodVolumeState} from '../../../contract/volumes/pod-volume-state.js';
import {FilesystemStats} from './filesystem-stats.js';
import type {VolumeUsage} from './measured-volume.js';

/** Bounds on the walk through a volume. */
export const VOLUME_BOUNDS = {maxBytes: 2n ** 62n, maxEntries: 100_000};

type Usage = Pick<VolumeUsage, 'usedBytes' | 'inodesUsed' | 'capacity'>;

/** Time to wait for the server of a filesystem, in ms. */
const SERVER_MS = 1000;

/**
 * Measures volumes of PersistentVolumeClaims and of CSI drivers: a filesystem as a whole (metricsStatFS), a directory by its
 * files, and a volume of a driver by asking it. As in a kubelet, hostPath volumes are not measured.
 */
export class ClaimUsageReader {
  readonly #clock: Clock;
  /** True while a server has not answered: each such call occupies a thread, of which there are few. */
  #isWaiting = false;
  /** Plugins of which a driver has not answered. */
  readonly #asked = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the usage; undefined if the volume is not mounted, cannot be read, or has no measurement. */
  async measure(
    namespace: string,
    {name, plugin, path, claim, isMounted, measure}: PodVolumeState,
    nowMs: number,
  ): Promise<VolumeUsage | undefined> {
    if (!isMounted) return undefined;
    const usage =
      measure === undefined ? await this.#usage(plugin, path) : await this.#driverUsage(plugin, measure);
    return (
      usage && {
        ...{name, timeNanos: BigInt(nowMs) * 1_000_000n, isEphemeral: false},
        ...usage,
        ...(claim !== undefined && {claim: {name: claim, namespace}}),
      }
    );
  }

  /** Asks a driver, unless it has not answered an earlier question: one that hangs must not delay others. */
  async #driverUsage(
    plugin = '',
    measure: NonNullable<PodVolumeState['measure']>,
  ): Promise<Usage | undefined> {
    if (this.#asked.has(plugin)) return undefined;
    this.#asked.add(plugin);
    const usage = measure()
      .catch((error: unknown) => {
        rethrowUnexpected(error); // a volume without a measurement is left out
        return undefined;
      })
      .finally(() => this.#asked.delete(plugin));
    const limit = new AbortController();
    const isDone = await finishesWithin(usage, SERVER_MS, this.#clock, limit.signal);
    const found = isDone ? await usage : undefined;
    if (found === undefined) return undefined;
    const {usedBytes, inodesUsed, ...capacity} = found;
    return {usedBytes, inodesUsed, capacity};
  }

  async #usage(plugin: string | undefined, path: string): Promise<Usage | undefined> {
    if (plugin === 'kcri/claim-directory') return await directoryUsage(path);
    if (plugin === 'kubernetes.io/local-volume') return await filesystemUsage(path);
    return plugin === 'kubernetes.io/nfs' ? await this.#serverUsage(path) : undefined;
  }

  async #serverUsage(path: string): Promise<Usage | undefined> {
    if (this.#isWaiting) return undefined;
    this.#isWaiting = true;
    const usage = filesystemUsage(path).finally(() => {
      this.#isWaiting = false;
    });
    const limit = new AbortController();
    return (await finishesWithin(usage, SERVER_MS, this.#clock, limit.signal)) ? await usage : undefined;
  }
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
