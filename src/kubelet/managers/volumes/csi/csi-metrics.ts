import type {Clock} from '../../../../base/clock.js';
import {CriError, type CallObserver} from '../../../../cri/index.js';
import type {KubeletMetrics, VolumeOperation} from '../../../contract/kubelet-metrics.js';
import {timeOperation} from '../time-operation.js';

/** Times the calls of CSI drivers and the operations on their volumes. */
export class CsiMetrics {
  readonly #metrics: Pick<KubeletMetrics, 'csiCallCompleted' | 'volumeOperated'>;
  readonly #clock: Pick<Clock, 'monotonic'>;

  constructor(
    metrics: Pick<KubeletMetrics, 'csiCallCompleted' | 'volumeOperated'>,
    clock: Pick<Clock, 'monotonic'>,
  ) {
    this.#metrics = metrics;
    this.#clock = clock;
  }

  /** Returns an observer of the calls of a driver (RecordMetricsInterceptor). */
  observerOf(driver: string): CallObserver {
    return ({service, method: {rpc}}) => {
      const startedAt = this.#clock.monotonic();
      return {
        ended: (error) => {
          const durationMs = this.#clock.monotonic() - startedAt;
          const code = error === undefined ? 'OK' : error instanceof CriError ? error.goCode : 'Canceled';
          this.#metrics.csiCallCompleted({driver, method: `/${service}/${rpc}`, code, durationMs});
        },
      };
    };
  }

  /** Does the work of an operation on a volume of a driver. Rejects like the work. */
  async time<T>(operation: VolumeOperation['operation'], driver: string, work: () => Promise<T>): Promise<T> {
    return await this.timeOf(operation, csiPluginOf(driver), work);
  }

  /** Does the work of an operation on a volume of any plugin. Rejects like the work. */
  async timeOf<T>(
    operation: VolumeOperation['operation'],
    plugin: string,
    work: () => Promise<T>,
  ): Promise<T> {
    const report = (completed: VolumeOperation): void => {
      this.#metrics.volumeOperated(completed);
    };
    return await timeOperation({plugin, operation}, {clock: this.#clock, report}, work);
  }
}

/** Returns the name in metrics of the plugin of volumes of a driver. */
export function csiPluginOf(driver: string): string {
  return `kubernetes.io/csi:${driver}`;
}
