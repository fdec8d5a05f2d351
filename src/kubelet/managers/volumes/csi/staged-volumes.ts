import {realpath} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {abortable} from '../../../../base/async/abortable.js';
import {runInBackground} from '../../../../base/async/background-work.js';
import {WakeableSleep} from '../../../../base/async/wakeable-sleep.js';
import type {Clock} from '../../../../base/clock.js';
import {rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import {listDirectoryNames, listNames, withFileErrors} from '../../../../base/fs/files.js';
import type {Logger} from '../../../../base/logger.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import type {Mounter} from '../mounter.js';
import {POD_DEVICES} from '../block/block-paths.js';
import {readBlockKey, unstageBlockVolume} from './unstage-block-volume.js';
import {UNSTAGE_STEP} from './driver-not-registered.js';
import type {CsiDrivers} from './csi-drivers.js';
import type {CsiMetrics} from './csi-metrics.js';
import {
  blocksDir,
  CSI_VOLUMES,
  stagedDir,
  stagingPath,
  uniqueVolumeName,
  type VolumeKey,
} from './csi-paths.js';
import {findMountReference, removeIfEmpty, removeMountDirectory} from './mount-directory.js';
import {nextRetryDelay} from './retry-delay.js';
import {removeUnidentified} from './orphans/unidentified-volumes.js';
import {readVolumeData} from './volume-data.js';

/** What staged volumes work with. */
export interface StagedVolumesOptions {
  readonly node: Pick<NodeFacts, 'rootDir'>;
  readonly drivers: Pick<CsiDrivers, 'client'>;
  readonly metrics: CsiMetrics;
  readonly mounter: Mounter;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when a volume is used by its first pod, or no longer on the node. */
  readonly onChange: () => void;
  readonly signal: AbortSignal;
}

/** A volume and the pods, by UID, that it is staged for. */
interface StagedVolume {
  readonly key: VolumeKey;
  readonly users: Set<string>;
  /** True if this process has staged it. */
  isStaged: boolean;
  /** Last stage or unstage call; it never rejects. */
  last: Promise<unknown>;
  isReleasing: boolean;
  /** Last release in the background. */
  release: Promise<void>;
}

/**
 * PersistentVolumes of CSI drivers that are staged on the node, each for all pods that use it. A volume without pods is
 * unstaged in the background, until that succeeds.
 */
export class StagedVolumes {
  readonly #options: StagedVolumesOptions;
  readonly #volumes = new Map<string, StagedVolume>();
  readonly #sleeps = new Set<WakeableSleep>();

  constructor(options: StagedVolumesOptions) {
    this.#options = options;
  }

  /**
   * Finds the volumes that an earlier process has left, and releases those without a pod. Failures of single volumes are logged.
   * Rejects with SystemError if directories cannot be listed: volumes that are in use must not be unstaged.
   */
  async restore(): Promise<void> {
    const {node, logger} = this.#options;
    const log = logger.forFile('staged-volumes.ts');
    await this.findUsers();
    await removeUnidentified(node, (error, directory) => {
      log.error(error, 'Failed to remove the directory of a CSI volume without an identity', {directory});
    });
    for (const name of await listNames(blocksDir(node))) {
      const key = await this.#readBlock(name);
      if (key !== undefined) this.releaseUnused(key);
    }
    for (const driver of await listDirectoryNames(stagedDir(node)))
      for (const data of await readAll(join(stagedDir(node), driver), log)) this.releaseUnused(toKey(data));
  }

  /** Unstages a volume in the background, unless a pod uses it. */
  releaseUnused(key: VolumeKey): void {
    const volume = this.#volume(key);
    if (volume.users.size === 0) this.#startRelease(volume);
  }

  /** Reads the identity of a block volume; one that is damaged is logged. */
  async #readBlock(name: string): Promise<VolumeKey | undefined> {
    const {node, logger} = this.#options;
    try {
      return await readBlockKey(node, name);
    } catch (error) {
      rethrowUnexpected(error);
      const log = logger.forFile('staged-volumes.ts');
      log.error(error, 'Failed to read the identity of a CSI volume', {volume: name});
      return undefined;
    }
  }

  /** Finds the pods of all processes that use volumes. Failures are logged. */
  async findUsers(): Promise<void> {
    const {node, logger} = this.#options;
    const log = logger.forFile('staged-volumes.ts');
    const pods = join(node.rootDir, 'pods');
    for (const uid of await listDirectoryNames(pods)) {
      for (const data of await readAll(join(pods, uid, 'volumes', CSI_VOLUMES), log))
        if (data.volumeLifecycleMode === 'Persistent') this.use(toKey(data), uid);
      for (const name of await listNames(join(pods, uid, POD_DEVICES, CSI_VOLUMES))) {
        const key = await this.#readBlock(name);
        if (key !== undefined) this.use(key, uid);
      }
    }
  }

  /** Resolves when no volume is being released; never while a driver fails to unstage one. */
  async idle(): Promise<void> {
    await Promise.all([...this.#volumes.values()].map(({release}) => release));
  }

  /** Volumes that are staged, or used by pods. */
  get keys(): readonly VolumeKey[] {
    return [...this.#volumes.values()].map(({key}) => key);
  }

  /** Notes that a pod uses a volume; it is not unstaged before the pod has released it. */
  use(key: VolumeKey, uid: string): void {
    const isNew = !this.#volumes.has(uniqueVolumeName(key));
    this.#volume(key).users.add(uid);
    if (isNew) this.#options.onChange();
  }

  /** Returns the UIDs of the pods that use a volume. */
  usersOf(key: VolumeKey): ReadonlySet<string> {
    return this.#volumes.get(uniqueVolumeName(key))?.users ?? new Set();
  }

  /** Stages a volume with `work`, unless this process has done so. Rejects like `work`, and with the signal's reason. */
  async stage(key: VolumeKey, work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const volume = this.#volume(key);
    const staging = volume.last.then(async () => {
      signal.throwIfAborted();
      if (volume.isStaged) return;
      await work();
      volume.isStaged = true;
    });
    volume.last = staging.catch(() => undefined); // the caller sees the error
    await abortable(staging, signal);
  }

  /** Notes that a pod no longer uses a volume; without another pod it is unstaged. */
  release(key: VolumeKey, uid: string): void {
    const volume = this.#volume(key);
    volume.users.delete(uid);
    if (volume.users.size === 0) this.#startRelease(volume);
  }

  /** Releases all volumes that a pod uses. */
  releaseAll(uid: string): void {
    for (const {key, users} of this.#volumes.values()) if (users.has(uid)) this.release(key, uid);
  }

  /** Tries again to unstage volumes, because another driver can be called. */
  retry(): void {
    for (const sleep of this.#sleeps) sleep.wake();
  }

  #volume(key: VolumeKey): StagedVolume {
    const name = uniqueVolumeName(key);
    const known = this.#volumes.get(name);
    if (known !== undefined) return known;
    const volume: StagedVolume = {
      ...{
        key: {driver: key.driver, handle: key.handle, blockName: key.blockName},
        users: new Set<string>(),
        isStaged: false,
        isReleasing: false,
      },
      release: Promise.resolve(),
      last: Promise.resolve(),
    };
    this.#volumes.set(name, volume);
    return volume;
  }

  #startRelease(volume: StagedVolume): void {
    if (volume.isReleasing) return;
    volume.isReleasing = true;
    volume.release = this.#releaseUntilDone(volume);
    runInBackground('CSI volumes', volume.release);
  }

  /** Unstages a volume; tries again until it succeeds, a pod uses the volume again, or the kubelet stops. */
  async #releaseUntilDone(volume: StagedVolume): Promise<void> {
    const {clock, logger, metrics, signal, onChange} = this.#options;
    const {key} = volume;
    const operation = key.blockName === undefined ? 'unmount_device' : 'unmap_device';
    const sleep = new WakeableSleep(clock);
    this.#sleeps.add(sleep);
    for (let delayMs = nextRetryDelay(0); !signal.aborted; delayMs = nextRetryDelay(delayMs)) {
      await volume.last;
      if (volume.users.size > 0) break;
      const unstaging = metrics.time(operation, key, () => this.#unstage(volume));
      volume.last = unstaging.catch(() => undefined); // seen below
      try {
        await unstaging;
        if (volume.users.size === 0) {
          this.#volumes.delete(uniqueVolumeName(key));
          metrics.unstaged(key);
        }
        onChange();
        break;
      } catch (error) {
        if (isAborted(signal)) break;
        rethrowUnexpected(error);
        const fields = {volume: uniqueVolumeName(volume.key), durationBeforeRetry: `${delayMs / 1000}s`};
        logger.forFile('staged-volumes.ts').error(error, 'UnmountDevice failed', fields);
      }
      await sleep.sleep(delayMs, signal);
    }
    this.#sleeps.delete(sleep);
    volume.isReleasing = false;
  }

  /** Unstages a volume and removes its directory (UnmountDevice). */
  async #unstage(volume: StagedVolume): Promise<void> {
    const {node, drivers, mounter, signal} = this.#options;
    const {driver, handle, blockName} = volume.key;
    const path = stagingPath(node, volume.key);
    volume.isStaged = false;
    if (blockName !== undefined) {
      const step = 'blockMapper.TearDownDevice failed to get CSI client';
      await unstageBlockVolume({driver, handle, blockName}, node, () => drivers.client(driver, step), signal);
      return;
    }
    // Without the file, the driver does not stage volumes.
    if ((await readVolumeData(dirname(path))) === undefined) {
      await removeIfEmpty(path);
      await removeIfEmpty(dirname(path));
      return;
    }
    await this.#requireUnused(path);
    const client = drivers.client(driver, UNSTAGE_STEP);
    if ((await client.capabilities(signal)).has('STAGE_UNSTAGE_VOLUME'))
      await client.unstage({volumeId: handle, stagingTargetPath: path}, signal);
    await removeMountDirectory(path, mounter);
  }

  /** Rejects with SystemError if the staged filesystem is still mounted for a pod, whose identity file may be lost. */
  async #requireUnused(path: string): Promise<void> {
    const {node, mounter} = this.#options;
    const rootDir = await withFileErrors('resolving', node.rootDir, () => realpath(node.rootDir));
    const reference = await findMountReference(path, join(rootDir, 'pods'), mounter);
    if (reference === undefined) return;
    throw new SystemError(
      `the device mount path ${JSON.stringify(path)} is still mounted by other references ["${reference}"]`,
      {hint: 'delete the pod that uses the volume'},
    );
  }
}

/** Reads the signal again after a wait. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

type Data = NonNullable<Awaited<ReturnType<typeof readVolumeData>>>;

function toKey({driverName: driver, volumeHandle: handle}: Data): VolumeKey {
  return {driver, handle};
}

/** Reads the identities of the volumes in the directories of a directory; damaged ones are logged. */
async function readAll(directory: string, log: ReturnType<Logger['forFile']>): Promise<readonly Data[]> {
  const found: Data[] = [];
  for (const name of await listNames(directory))
    try {
      const data = await readVolumeData(join(directory, name));
      if (data !== undefined) found.push(data);
    } catch (error) {
      rethrowUnexpected(error);
      log.error(error, 'Failed to read the identity of a CSI volume', {directory: join(directory, name)});
    }
  return found;
}
