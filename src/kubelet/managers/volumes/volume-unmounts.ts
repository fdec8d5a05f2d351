import type {Clock} from '../../../base/clock.js';
import type {KubeletMetrics} from '../../contract/kubelet-metrics.js';
import type {MountedOperation} from './plugins/volume-plugin.js';

/** Options of {@link VolumeUnmounts}. */
export interface VolumeUnmountsOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly metrics: Pick<KubeletMetrics, 'volumeOperated'>;
}

/**
 * Volumes of pods that this process has mounted, to report that they are unmounted (GenerateUnmountVolumeFunc,
 * GenerateUnmapVolumeFunc). The volumes of a pod are unmounted together, except those of CSI drivers, which report themselves.
 */
export class VolumeUnmounts {
  readonly #options: VolumeUnmountsOptions;
  readonly #mounted = new Map<string, Map<string, MountedOperation>>();

  constructor(options: VolumeUnmountsOptions) {
    this.#options = options;
  }

  /** Notes a volume that was mounted. */
  mounted(uid: string, volume: MountedOperation): void {
    if (volume.driver !== undefined) return;
    const volumes = this.#mounted.get(uid) ?? new Map<string, MountedOperation>();
    this.#mounted.set(uid, volumes.set(volume.name, volume));
  }

  /** Does the work of unmounting the volumes of a pod, and reports each. Rejects like the work. */
  async time(uid: string, work: () => Promise<void>): Promise<void> {
    const {clock, metrics} = this.#options;
    const volumes = [...(this.#mounted.get(uid)?.values() ?? [])];
    const startedAt = clock.monotonic();
    let isSuccessful = false;
    try {
      await work();
      isSuccessful = true;
      this.#mounted.delete(uid);
    } finally {
      const durationMs = clock.monotonic() - startedAt;
      for (const {plugin, isBlock} of volumes) {
        const operation = isBlock ? 'unmap_volume' : 'volume_unmount';
        metrics.volumeOperated({plugin, operation, isSuccessful, durationMs});
      }
    }
  }
}
