import {dirname, join} from 'node:path';
import {anySignal} from '../../../../base/async/any-signal.js';
import {pause} from '../../../../base/async/pause.js';
import {rethrowUnexpected, SystemError, messageOf, KcriError} from '../../../../base/errors.js';
import type {CsiSecretRef, SecretContent} from '../../../contract/volumes/csi-cluster.js';
import {podRef} from '../../../contract/pod-ref.js';
import type {
  CreatedCsiVolume,
  CsiVolume,
  CsiVolumes,
  CsiVolumeToDelete,
  CsiVolumeToExpand,
  CsiVolumeToModify,
  ExpandableVolume,
  ExpandedCsiVolume,
  ExpandOptions,
  NewCsiVolume,
} from '../../../contract/volumes/csi-volumes.js';
import type {DriverUsage} from '../../../contract/volumes/driver-usage.js';
import {isForOnePod} from '../is-for-one-pod.js';
import {VolumeStepError} from '../volume-step-error.js';
import {isBlockVolume, mapBlockVolume, unmapBlockVolume, writeBlockData} from './block-volume.js';
import {PluginAttachments} from './attach/plugin-attachments.js';
import {attachmentName, blockPaths, uniqueVolumeName, type VolumeKey} from './csi-paths.js';
import {UNPUBLISH_STEP} from './driver-not-registered.js';
import {createVolume, deleteVolume, expandVolume, modifyVolume} from './csi-controller-client.js';
import {csiPluginOf} from './csi-metrics.js';
import {readBlockKey} from './unstage-block-volume.js';
import {VolumeExpander} from './expand/volume-expander.js';
import {removeMountDirectory, removeIfEmpty} from './mount-directory.js';
import {updatePeriodMs} from './limits/allocatable-updates.js';
import {measureVolume} from './measure-volume.js';
import {publishVolume} from './publish-volume.js';
import {nextRetryDelay} from './retry-delay.js';
import {stageVolume} from './stage-volume.js';
import {withMountLabel} from './selinux/mount-label.js';
import type {CsiServices} from './csi-services.js';
import {listPodCsiVolumes, readVolumeData, type VolumeData} from './volume-data.js';
import {readSecret, readSecretContent} from './read-secret.js';

/** Time for which the volumes of a pod are unmounted again after failures, in ms (podAttachAndMountTimeout). */
const WAIT_MS = 123_000;

/** Signal of the removal of a pod's volumes, and whether the pod is wanted again. */
interface UnmountWork {
  readonly signal: AbortSignal;
  readonly isWanted: () => boolean;
}

/** Mounts and unmounts the CSI volumes of pods. Every call of a driver ends when the kubelet stops. */
export class CsiVolumeManager implements CsiVolumes {
  readonly #services: CsiServices;
  /** Volumes of pods that are mounted with a SELinux label. */
  readonly #labeled = new Set<string>();
  /** Volumes of pods that wait until they are attached. */
  readonly #attaching = new Map<string, CsiVolume>();
  readonly #expander: VolumeExpander;
  readonly attachments: PluginAttachments | undefined;

  /** `onAttachmentsChange` is called when other volumes are in use than before. */
  constructor(services: CsiServices, onAttachmentsChange: () => void = () => undefined) {
    const {cluster} = services;
    this.#services = services;
    if (cluster?.attachesVolumes === true)
      this.attachments = new PluginAttachments(cluster, onAttachmentsChange, services.metrics);
    this.#expander = new VolumeExpander(services);
  }

  async mount(volume: CsiVolume, signal: AbortSignal, onStaged?: () => void): Promise<void> {
    await this.#untilStopped(signal, async (during) => {
      await this.#mount(volume, during, onStaged);
    });
  }

  /** Calls `act` with a signal that also aborts when the kubelet stops; it rejects with SystemError then. */
  async #untilStopped<T>(
    signal: AbortSignal | undefined,
    act: (during: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const {signal: stopped} = this.#services;
    using either = anySignal(...(signal === undefined ? [] : [signal]), stopped);
    try {
      return await act(either.signal);
    } catch (cause) {
      signal?.throwIfAborted();
      if (stopped.aborted) throw new SystemError('the kubelet is stopping', {cause});
      throw cause;
    }
  }

  async #mount(given: CsiVolume, signal: AbortSignal, onStaged?: () => void): Promise<void> {
    const {cluster, node, staged, selinuxDir} = this.#services;
    await cluster?.driversKnown(signal);
    const volume = node.selinuxEnabled
      ? await withMountLabel(given, cluster?.driver(given.driver), selinuxDir)
      : given;
    const {uid} = podRef(volume.pod);
    this.#services.metrics.mounting(volume);
    if (volume.seLinuxLabel !== undefined) this.#labeled.add(attachmentKey(uid, volume.specName));
    if (!volume.isEphemeral) {
      this.#requireExclusive(volume, uid);
      staged.use(volume, uid);
    }
    const context = await this.#attach(volume, signal);
    if (!volume.isEphemeral) {
      const stage = async (): Promise<void> => {
        // After the end of a removal that is in progress, which would remove it.
        if (isBlockVolume(volume)) await writeBlockData(volume, this.#services.node);
        await stageVolume(volume, context, this.#services, signal);
      };
      const step = isBlockVolume(volume) ? 'MapVolume.SetUpDevice failed' : 'MountVolume.MountDevice failed';
      await inStep(step, staged.stage(volume, stage, signal), signal);
      onStaged?.();
    }
    if (isBlockVolume(volume)) await mapBlockVolume(volume, context, this.#services, signal);
    else await publishVolume(volume, context, this.#services, signal);
  }

  async expand(volume: CsiVolume, options: ExpandOptions): Promise<boolean> {
    return await this.#untilStopped(options.signal, async (signal) =>
      this.#expander.expand(volume, {...options, signal}),
    );
  }

  async expandOther(volume: ExpandableVolume, options: ExpandOptions): Promise<boolean> {
    return await this.#untilStopped(options.signal, async (signal) =>
      this.#expander.expandOther(volume, {...options, signal}),
    );
  }

  async secret(ref: CsiSecretRef, signal: AbortSignal): Promise<SecretContent> {
    return await readSecretContent(this.#services.cluster, 'secretRef', ref, signal);
  }

  get attachesVolumes(): boolean {
    return this.#services.cluster?.attachesVolumes === true;
  }

  isAttaching(podUid: string, volume: string): boolean {
    return (
      this.#attaching.has(attachmentKey(podUid, volume)) ||
      this.attachments?.isWaiting(podUid, volume) === true
    );
  }

  hasMountLabel(podUid: string, volume: string): boolean {
    return this.#labeled.has(attachmentKey(podUid, volume));
  }

  async exceedsLimit(podUid: string, volume: string, signal: AbortSignal): Promise<boolean> {
    const {cluster, limits, node, logger} = this.#services;
    const waiting = this.#attaching.get(attachmentKey(podUid, volume));
    if (waiting === undefined || cluster?.limits === undefined) return false;
    if (updatePeriodMs(cluster, waiting.driver) === undefined) return false;
    try {
      if (!(await cluster.limits.isExhausted(attachmentName(waiting, node.nodeName), signal))) return false;
    } catch (error) {
      signal.throwIfAborted();
      rethrowUnexpected(error);
      const fields = {attachmentName: attachmentName(waiting, node.nodeName)};
      logger.forFile('csi-volume-manager.ts').error(error, 'Failed to get volume attachment', fields);
      return false;
    }
    await limits?.update(waiting.driver, signal);
    return true;
  }

  isRepublished(driver: string): boolean {
    return this.#services.cluster?.driver(driver)?.requiresRepublish === true;
  }

  async measure(path: string, blockName?: string): Promise<DriverUsage | undefined> {
    const {drivers, node} = this.#services;
    const dataDir = blockName === undefined ? dirname(path) : blockPaths(node, blockName).data;
    return await this.#untilStopped(undefined, async (during) =>
      measureVolume({path, dataDir}, drivers, during),
    );
  }

  async unmountPod(
    podDir: string,
    uid: string,
    signal?: AbortSignal,
    isWanted: () => boolean = () => false,
  ): Promise<void> {
    await this.#untilStopped(signal, async (during) => {
      await this.#unmountPod(podDir, uid, {signal: during, isWanted});
    });
  }

  async #unmountPod(podDir: string, uid: string, during: UnmountWork): Promise<void> {
    const {signal} = during;
    const volumes = await listPodCsiVolumes(podDir);
    // A driver that hangs does not delay the volumes of others.
    const results = await Promise.allSettled(
      volumes.map(({path, blockName}) =>
        blockName === undefined
          ? this.#untilDone(path, () => this.#tryUnpublish(path, uid, signal), during)
          : this.#untilDone(blockName, () => this.#unmapBlock(blockName, uid, signal), during),
      ),
    );
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    this.#services.staged.releaseAll(uid);
    this.#expander.release(uid);
    for (const key of this.#labeled) if (key.startsWith(`${uid}/`)) this.#labeled.delete(key);
  }

  async isRegistered(driver: string): Promise<boolean> {
    return this.#services.drivers.isRegistered(driver);
  }

  async createVolume(volume: NewCsiVolume, signal: AbortSignal): Promise<CreatedCsiVolume> {
    const {drivers, cluster} = this.#services;
    return await this.#untilStopped(signal, async (during) => {
      const endpoint = drivers.endpoint(volume.driver, 'CreateVolume');
      const secrets = await readSecret(cluster, 'provisioner secret', volume.secret, during);
      return await createVolume(endpoint, volume, secrets, during);
    });
  }

  async expandVolume(volume: CsiVolumeToExpand, signal: AbortSignal): Promise<ExpandedCsiVolume> {
    const {drivers, cluster} = this.#services;
    return await this.#untilStopped(signal, async (during) => {
      const endpoint = drivers.endpoint(volume.driver, 'ControllerExpandVolume');
      const secrets = await readSecret(cluster, 'controller expand secret', volume.secret, during);
      return await expandVolume(endpoint, volume, secrets, during);
    });
  }

  async modifyVolume(volume: CsiVolumeToModify, signal: AbortSignal): Promise<void> {
    await this.#untilStopped(signal, async (during) => {
      const endpoint = this.#services.drivers.endpoint(volume.driver, 'ControllerModifyVolume');
      await modifyVolume(endpoint, volume, during);
    });
  }

  async deleteVolume(volume: CsiVolumeToDelete, signal?: AbortSignal): Promise<void> {
    const {drivers, cluster} = this.#services;
    await this.#untilStopped(signal, async (during) => {
      const endpoint = drivers.endpoint(volume.driver, 'DeleteVolume');
      const secrets = await readSecret(cluster, 'provisioner secret', volume.secret, during);
      await deleteVolume(endpoint, volume, secrets, during);
    });
  }

  /** Returns the unique names of the volumes that must not be detached; undefined while that is not known. */
  volumesInUse(): readonly string[] | undefined {
    const {cluster, staged} = this.#services;
    if (cluster?.knowsDrivers !== true) return undefined;
    const own = staged.keys.filter(({driver}) => this.#isAttached(driver)).map(uniqueVolumeName);
    return [...own, ...(this.attachments?.names ?? [])].toSorted();
  }

  /** Rejects a volume for one pod that another pod has (IsVolumeMountedElsewhere). */
  #requireExclusive(volume: CsiVolume, uid: string): void {
    if (!isForOnePod(volume)) return;
    const others = [...this.#services.staged.usersOf(volume)].filter((user) => user !== uid);
    if (others.length === 0) return;
    const message = 'volume uses the ReadWriteOncePod access mode and is already in use by another pod';
    if (isBlockVolume(volume)) throw new VolumeStepError('MapVolume.SetUpDevice failed', message);
    throw new SystemError(message);
  }

  /** Reports whether the controller of a driver attaches its volumes, as by default. */
  #isAttached(driver: string): boolean {
    const {cluster} = this.#services;
    if (cluster === undefined || cluster.attachesNothing === true) return false;
    return cluster.driver(driver)?.attachRequired !== false;
  }

  /** Waits until the volume is attached, and returns what the driver's controller left for the node (WaitForAttach). */
  async #attach(volume: CsiVolume, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const {cluster, node} = this.#services;
    if (volume.isEphemeral || cluster === undefined || !this.#isAttached(volume.driver)) return {};
    if (!cluster.attachesVolumes)
      throw new VolumeStepError(
        'AttachVolume.Attach failed',
        'attaching volumes from the kubelet is not supported',
        {hint: 'set enableControllerAttachDetach to true'},
      );
    const waiting = attachmentKey(podRef(volume.pod).uid, volume.specName);
    this.#attaching.set(waiting, volume);
    try {
      const uniqueName = uniqueVolumeName(volume);
      const untilAttached = async (): Promise<unknown> => await cluster.untilAttached(uniqueName, signal);
      await this.#services.metrics.attaching(uniqueName, csiPluginOf(volume.driver), untilAttached);
    } finally {
      this.#attaching.delete(waiting);
    }
    const context = cluster.publishContext(attachmentName(volume, node.nodeName), signal);
    return await inStep(
      `${isBlockVolume(volume) ? 'Map' : 'Mount'}Volume.WaitForAttach failed`,
      context,
      signal,
    );
  }

  /**
   * Does the work of unmounting a volume of a pod, again after failures for a limited time. `volume` is its name in the log.
   * Rejects with SystemError before the next attempt if the pod is wanted.
   */
  async #untilDone(
    volume: string,
    work: () => Promise<void>,
    {signal, isWanted}: UnmountWork,
  ): Promise<void> {
    const {clock, logger} = this.#services;
    const startedAt = clock.monotonic();
    for (let delayMs = nextRetryDelay(0); ; delayMs = nextRetryDelay(delayMs)) {
      if (isWanted()) throw new SystemError('a pod with this UID uses its volumes');
      try {
        await work();
        return;
      } catch (error) {
        signal.throwIfAborted();
        rethrowUnexpected(error);
        if (clock.monotonic() + delayMs - startedAt > WAIT_MS) throw error;
        const fields = {volume, durationBeforeRetry: `${delayMs / 1000}s`};
        logger.forFile('csi-volume-manager.ts').error(error, 'UnmountVolume.TearDown failed', fields);
        await pause(clock, delayMs, signal);
      }
    }
  }

  /** Unmaps a block volume of a pod (UnmapVolume). */
  async #unmapBlock(name: string, uid: string, signal: AbortSignal): Promise<void> {
    const {node, metrics} = this.#services;
    const unmap = async (): Promise<VolumeKey | undefined> =>
      await unmapBlockVolume(name, uid, this.#services, signal);
    const known = await readBlockKey(node, name);
    const key = known === undefined ? await unmap() : await metrics.time('unmap_volume', known, unmap);
    if (key !== undefined) this.#services.staged.release(key, uid);
  }

  /** Unpublishes a volume of a pod (TearDownAt). */
  async #tryUnpublish(directory: string, uid: string, signal: AbortSignal): Promise<void> {
    const path = join(directory, 'mount');
    const data = await readVolumeData(directory);
    if (data === undefined) await removeIfEmpty(path);
    else {
      const key = {driver: data.driverName, handle: data.volumeHandle};
      await this.#services.metrics.time('volume_unmount', key, () =>
        this.#unpublishVolume(path, data, uid, signal),
      );
    }
  }

  async #unpublishVolume(path: string, data: VolumeData, uid: string, signal: AbortSignal): Promise<void> {
    const {drivers, mounter, staged} = this.#services;
    const key: VolumeKey = {driver: data.driverName, handle: data.volumeHandle};
    const client = drivers.client(key.driver, UNPUBLISH_STEP);
    try {
      await client.unpublish({volumeId: key.handle, targetPath: path}, signal);
    } catch (cause) {
      signal.throwIfAborted();
      rethrowUnexpected(cause);
      throw new SystemError(`kubernetes.io/csi: Unmounter.TearDownAt failed: ${messageOf(cause)}`, {cause});
    }
    await removeMountDirectory(path, mounter);
    if (data.volumeLifecycleMode === 'Persistent') staged.release(key, uid);
  }
}

function attachmentKey(podUid: string, volume: string): string {
  return `${podUid}/${volume}`;
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
