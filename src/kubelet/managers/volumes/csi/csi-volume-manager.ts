import {join} from 'node:path';
import {pause} from '../../../../base/async/pause.js';
import {finishesWithin} from '../../../../base/async/deadline.js';
import {rethrowUnexpected, SystemError, messageOf, KcriError} from '../../../../base/errors.js';
import {listNames} from '../../../../base/fs/files.js';
import {podRef} from '../../../contract/pod-ref.js';
import type {
  CreatedCsiVolume,
  CsiVolume,
  CsiVolumes,
  CsiVolumeToDelete,
  NewCsiVolume,
} from '../../../contract/volumes/csi-volumes.js';
import type {DriverUsage} from '../../../contract/volumes/driver-usage.js';
import {VolumeStepError} from '../volume-step-error.js';
import {AttachTimeoutError} from './attach-timeout-error.js';
import {attachmentName, CSI_VOLUMES, uniqueVolumeName, type VolumeKey} from './csi-paths.js';
import {UNPUBLISH_STEP} from './driver-not-registered.js';
import {createVolume, deleteVolume} from './csi-controller-client.js';
import {removeMountDirectory, removeIfEmpty} from './mount-directory.js';
import {measureVolume} from './measure-volume.js';
import {publishVolume} from './publish-volume.js';
import {nextRetryDelay} from './retry-delay.js';
import {stageVolume} from './stage-volume.js';
import type {CsiServices} from './csi-services.js';
import {readSecret} from './read-secret.js';
import {readVolumeData} from './volume-data.js';

/** Time for which a sync of a pod waits until its volumes are attached or unmounted, in ms (podAttachAndMountTimeout). */
const WAIT_MS = 123_000;

/** Mounts and unmounts the CSI volumes of pods. */
export class CsiVolumeManager implements CsiVolumes {
  readonly #services: CsiServices;

  constructor(services: CsiServices) {
    this.#services = services;
  }

  async mount(volume: CsiVolume, signal: AbortSignal): Promise<void> {
    const {cluster, staged} = this.#services;
    await cluster?.driversKnown(signal);
    const {uid} = podRef(volume.pod);
    if (!volume.isEphemeral) {
      this.#requireExclusive(volume, uid);
      staged.use(volume, uid);
    }
    const context = await this.#attach(volume, signal);
    if (!volume.isEphemeral) {
      const stage = async (): Promise<void> => stageVolume(volume, context, this.#services, signal);
      await inStep('MountVolume.MountDevice failed', staged.stage(volume, stage, signal), signal);
    }
    await publishVolume(volume, context, this.#services, signal);
  }

  isRepublished(driver: string): boolean {
    return this.#services.cluster?.driver(driver)?.requiresRepublish === true;
  }

  async measure(path: string): Promise<DriverUsage | undefined> {
    return await measureVolume(path, this.#services.drivers);
  }

  async unmountPod(podDir: string, uid: string, signal?: AbortSignal): Promise<void> {
    const directory = join(podDir, 'volumes', CSI_VOLUMES);
    const names = await listNames(directory);
    // A driver that hangs does not delay the volumes of others.
    const results = await Promise.allSettled(
      names.map(async (name) => this.#unpublish(join(directory, name), uid, signal)),
    );
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    this.#services.staged.releaseAll(uid);
  }

  async isRegistered(driver: string): Promise<boolean> {
    return this.#services.drivers.isRegistered(driver);
  }

  async createVolume(volume: NewCsiVolume, signal: AbortSignal): Promise<CreatedCsiVolume> {
    const {drivers, cluster} = this.#services;
    const endpoint = drivers.endpoint(volume.driver, 'CreateVolume');
    const secrets = await readSecret(cluster, 'provisioner secret', volume.secret, signal);
    return await createVolume(endpoint, volume, secrets, signal);
  }

  async deleteVolume(volume: CsiVolumeToDelete, signal?: AbortSignal): Promise<void> {
    const {drivers, cluster} = this.#services;
    const endpoint = drivers.endpoint(volume.driver, 'DeleteVolume');
    const during = signal ?? new AbortController().signal;
    const secrets = await readSecret(cluster, 'provisioner secret', volume.secret, during);
    await deleteVolume(endpoint, volume, secrets, signal);
  }

  /** Returns the unique names of the volumes that must not be detached; undefined while that is not known. */
  volumesInUse(): readonly string[] | undefined {
    const {cluster, staged} = this.#services;
    if (cluster?.knowsDrivers !== true) return undefined;
    return staged.keys
      .filter(({driver}) => this.#isAttached(driver))
      .map(uniqueVolumeName)
      .toSorted();
  }

  /** Rejects a volume for one pod that another pod has (IsVolumeMountedElsewhere). */
  #requireExclusive({accessModes, ...key}: CsiVolume, uid: string): void {
    if (accessModes.length !== 1 || accessModes[0] !== 'ReadWriteOncePod') return;
    const others = [...this.#services.staged.usersOf(key)].filter((user) => user !== uid);
    if (others.length > 0)
      throw new SystemError(
        'volume uses the ReadWriteOncePod access mode and is already in use by another pod',
      );
  }

  /** Reports whether the controller of a driver attaches its volumes, as by default. */
  #isAttached(driver: string): boolean {
    const {cluster} = this.#services;
    if (cluster === undefined || cluster.attachesNothing === true) return false;
    return cluster.driver(driver)?.attachRequired !== false;
  }

  /** Waits until the volume is attached, and returns what the driver's controller left for the node (WaitForAttach). */
  async #attach(volume: CsiVolume, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const {cluster, clock, node} = this.#services;
    if (volume.isEphemeral || cluster === undefined || !this.#isAttached(volume.driver)) return {};
    if (!cluster.attachesVolumes)
      throw new VolumeStepError(
        'AttachVolume.Attach failed',
        'attaching volumes from the kubelet is not supported',
        {hint: 'set enableControllerAttachDetach to true'},
      );
    const name = uniqueVolumeName(volume);
    const waiting = new AbortController();
    const stop = (): void => {
      waiting.abort(signal.reason);
    };
    signal.addEventListener('abort', stop);
    try {
      const attached = cluster.untilAttached(name, waiting.signal);
      attached.catch(() => undefined); // seen here, unless it takes too long
      if (!(await finishesWithin(attached, WAIT_MS, clock, signal)))
        throw new AttachTimeoutError(volume.specName);
    } finally {
      signal.removeEventListener('abort', stop);
      waiting.abort();
    }
    const context = cluster.publishContext(attachmentName(volume, node.nodeName), signal);
    return await inStep('MountVolume.WaitForAttach failed', context, signal);
  }

  /** Unpublishes a volume of a pod, again after failures for a limited time (TearDownAt). */
  async #unpublish(directory: string, uid: string, signal: AbortSignal | undefined): Promise<void> {
    const {clock, logger} = this.#services;
    const startedAt = clock.monotonic();
    for (let delayMs = nextRetryDelay(0); ; delayMs = nextRetryDelay(delayMs))
      try {
        await this.#tryUnpublish(directory, uid, signal);
        return;
      } catch (error) {
        signal?.throwIfAborted();
        rethrowUnexpected(error);
        if (clock.monotonic() + delayMs - startedAt > WAIT_MS) throw error;
        const fields = {directory, durationBeforeRetry: `${delayMs / 1000}s`};
        logger.forFile('csi-volume-manager.ts').error(error, 'UnmountVolume.TearDown failed', fields);
        await pause(clock, delayMs, signal);
      }
  }

  async #tryUnpublish(directory: string, uid: string, signal: AbortSignal | undefined): Promise<void> {
    const {drivers, mounter, staged} = this.#services;
    const path = join(directory, 'mount');
    const data = await readVolumeData(directory);
    if (data === undefined) {
      await removeIfEmpty(path);
      return;
    }
    const key: VolumeKey = {driver: data.driverName, handle: data.volumeHandle};
    const client = drivers.client(key.driver, UNPUBLISH_STEP);
    try {
      await client.unpublish({volumeId: key.handle, targetPath: path}, signal);
    } catch (cause) {
      signal?.throwIfAborted();
      rethrowUnexpected(cause);
      throw new SystemError(`kubernetes.io/csi: Unmounter.TearDownAt failed: ${messageOf(cause)}`, {cause});
    }
    await removeMountDirectory(path, mounter);
    if (data.volumeLifecycleMode === 'Persistent') staged.release(key, uid);
  }
}

/** Adds the step to the error of work, as the kubelet's events do. Rejects with the signal's reason. */
async function inStep<T>(step: string, work: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    signal.throwIfAborted();
    rethrowUnexpected(cause);
    const hint = cause instanceof KcriError ? cause.hint : undefined;
    throw new VolumeStepError(step, messageOf(cause), {cause, hint});
  }
}
