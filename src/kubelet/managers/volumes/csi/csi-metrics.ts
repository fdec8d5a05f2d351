import type {Clock} from '../../../../base/clock.js';
import {CriError, type CallObserver} from '../../../../cri/index.js';
import type {KubeletMetrics, VolumeOperation} from '../../../contract/kubelet-metrics.js';
import type {CsiVolume} from '../../../contract/volumes/csi-volumes.js';
import {timeOperation} from '../time-operation.js';
import {uniqueVolumeName, type VolumeKey} from './csi-paths.js';

/** Times the calls of CSI drivers and the operations on their volumes. */
export class CsiMetrics {
  readonly #metrics: Pick<KubeletMetrics, 'csiCallCompleted' | 'volumeOperated'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Unique names of the volumes that this process has mounted in the place of an in-tree kind. */
  readonly #migrated = new Set<string>();
  /** Unique names of the volumes that were seen attached. */
  readonly #attached = new Set<string>();

  constructor(
    metrics: Pick<KubeletMetrics, 'csiCallCompleted' | 'volumeOperated'>,
    clock: Pick<Clock, 'monotonic'>,
  ) {
    this.#metrics = metrics;
    this.#clock = clock;
  }

  /** Records whether a volume is migrated, before its mount. Its unmount by this process gets the same label. */
  mounting({isMigrated = false, ...key}: VolumeKey & Pick<CsiVolume, 'isMigrated'>): void {
    if (isMigrated) this.#migrated.add(uniqueVolumeName(key));
    else this.#migrated.delete(uniqueVolumeName(key));
  }

  /** Removes the record of a volume after its unstaging. */
  unstaged(key: VolumeKey): void {
    this.#migrated.delete(uniqueVolumeName(key));
    this.released(uniqueVolumeName(key));
  }

  /** Returns an observer of the calls of a driver, which are for a volume of a replaced kind or not (RecordMetricsInterceptor). */
  observerOf(driver: string, isMigrated: boolean): CallObserver {
    return ({service, method: {rpc}}) => {
      const startedAt = this.#clock.monotonic();
      return {
        ended: (error) => {
          const durationMs = this.#clock.monotonic() - startedAt;
          const code = error === undefined ? 'OK' : error instanceof CriError ? error.goCode : 'Canceled';
          this.#metrics.csiCallCompleted({
            driver,
            method: `/${service}/${rpc}`,
            code,
            isMigrated,
            durationMs,
          });
        },
      };
    };
  }

  /** Does the work of an operation on a mounted volume of a driver. Rejects like the work. */
  async time<T>(operation: VolumeOperation['operation'], key: VolumeKey, work: () => Promise<T>): Promise<T> {
    const isMigrated = this.#migrated.has(uniqueVolumeName(key));
    return await this.#time({operation, plugin: csiPluginOf(key.driver), isMigrated}, work);
  }

  /** Waits until a volume of any plugin is attached; the first wait until its release is an operation. Rejects like the work. */
  async attaching<T>(uniqueName: string, plugin: string, untilAttached: () => Promise<T>): Promise<T> {
    if (this.#attached.has(uniqueName)) return await untilAttached();
    const isMigrated = this.#migrated.has(uniqueName);
    const operation = {operation: 'verify_controller_attached_volume', plugin, isMigrated} as const;
    const result = await this.#time(operation, untilAttached);
    this.#attached.add(uniqueName);
    return result;
  }

  /** Removes the record of an attached volume after its release. */
  released(uniqueName: string): void {
    this.#attached.delete(uniqueName);
  }

  /** Does the work of an operation on a volume of any plugin. Rejects like the work. */
  async timeOf<T>(
    operation: VolumeOperation['operation'],
    plugin: string,
    work: () => Promise<T>,
  ): Promise<T> {
    return await this.#time({operation, plugin}, work);
  }

  async #time<T>(
    operation: Pick<VolumeOperation, 'plugin' | 'operation' | 'isMigrated'>,
    work: () => Promise<T>,
  ): Promise<T> {
    const report = (completed: VolumeOperation): void => {
      this.#metrics.volumeOperated(completed);
    };
    return await timeOperation(operation, {clock: this.#clock, report}, work);
  }
}

/** Returns the name in metrics of the plugin of volumes of a driver. */
export function csiPluginOf(driver: string): string {
  return `kubernetes.io/csi:${driver}`;
}
