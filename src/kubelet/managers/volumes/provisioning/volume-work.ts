import {finishesWithin} from '../../../../base/async/deadline.js';
import type {Clock} from '../../../../base/clock.js';
import type {CsiVolumes} from '../../../contract/volumes/csi-volumes.js';
import type {ProvisionedVolume, ProvisionedVolumeStore} from './provisioned-volume-store.js';

/** Options of work on volumes, for which a driver gets a call. */
export interface VolumeWorkOptions<Call extends keyof CsiVolumes> {
  readonly store: Pick<ProvisionedVolumeStore, 'getBound' | 'lockClaim' | 'put'>;
  /** Returns the CSI volumes of this process. Throws SystemError if it has none. */
  readonly csi: () => Pick<CsiVolumes, Call>;
  readonly clock: Clock;
  /** Time for which pods of a claim wait from the beginning of the work, in ms; Infinity until it has ended. */
  readonly waitMs: number;
}

/** Work of a driver on a volume. */
interface RunningWork {
  /** Resolves with the record after it. */
  readonly work: Promise<ProvisionedVolume>;
  /** Time at which pods go on without it, in ms of the monotonic clock. */
  readonly waitUntil: number;
}

/**
 * Work of drivers on volumes, one at a time for each volume. Pods wait for it only for a limited time: a driver that is slow or hangs
 * keeps none from starting.
 */
export class VolumeWork {
  readonly #clock: Clock;
  readonly #waitMs: number;
  readonly #running = new Map<string, RunningWork>();

  constructor({clock, waitMs}: Pick<VolumeWorkOptions<never>, 'clock' | 'waitMs'>) {
    this.#clock = clock;
    this.#waitMs = waitMs;
  }

  /**
   * Begins work on a volume unless it is in progress. Resolves with the record after it; undefined if it goes on. Rejects like the work,
   * and with the signal's reason.
   */
  async run(
    name: string,
    begin: () => Promise<ProvisionedVolume>,
    signal: AbortSignal,
  ): Promise<ProvisionedVolume | undefined> {
    const {work, waitUntil} = this.#running.get(name) ?? this.#start(name, begin);
    const hasEnded = await finishesWithin(work, waitUntil - this.#clock.monotonic(), this.#clock, signal);
    return hasEnded ? await work : undefined;
  }

  #start(name: string, begin: () => Promise<ProvisionedVolume>): RunningWork {
    const work = begin().finally(() => this.#running.delete(name));
    const running = {work, waitUntil: this.#clock.monotonic() + this.#waitMs};
    this.#running.set(name, running);
    return running;
  }
}
