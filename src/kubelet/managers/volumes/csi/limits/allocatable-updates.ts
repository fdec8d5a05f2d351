import {runInBackground} from '../../../../../base/async/background-work.js';
import {WakeableSleep} from '../../../../../base/async/wakeable-sleep.js';
import {LONGEST_TIMER_MS, type Clock} from '../../../../../base/clock.js';
import {rethrowUnexpected} from '../../../../../base/errors.js';
import type {Logger} from '../../../../../base/logger.js';
import type {CsiCluster} from '../../../../contract/volumes/csi-cluster.js';
import type {CsiDrivers} from '../csi-drivers.js';

/** Options of AllocatableUpdates. */
export interface AllocatableUpdatesOptions {
  readonly cluster: CsiCluster;
  readonly drivers: Pick<CsiDrivers, 'names' | 'info'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Schedule {
  readonly periodMs: number;
  /** Time of the next update, in ms of the monotonic clock. */
  dueAt: number;
}

/** Returns the period of a driver's updates, in ms; undefined if the limit of its volumes does not change. */
export function updatePeriodMs(cluster: CsiCluster, driver: string): number | undefined {
  const seconds = cluster.driver(driver)?.nodeAllocatableUpdatePeriodSeconds ?? 0;
  return seconds > 0 ? seconds * 1000 : undefined;
}

/**
 * Asks the drivers whose CSIDriver has `nodeAllocatableUpdatePeriodSeconds` in this period for the most volumes of the node, and
 * writes it to the CSINode (csi_node_updater.go).
 */
export class AllocatableUpdates {
  readonly #options: AllocatableUpdatesOptions;
  readonly #sleep: WakeableSleep;
  readonly #schedules = new Map<string, Schedule>();

  constructor(options: AllocatableUpdatesOptions) {
    this.#options = options;
    this.#sleep = new WakeableSleep(options.clock);
  }

  /** Looks again which drivers are to be asked: one has registered or ended, or its CSIDriver has changed. */
  changed(): void {
    this.#sleep.wake();
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const now = this.#options.clock.monotonic();
      this.#plan(now);
      for (const [driver, schedule] of this.#schedules) {
        if (schedule.dueAt > now) continue;
        schedule.dueAt = now + schedule.periodMs;
        runInBackground('CSI volume limits', this.update(driver, signal));
      }
      const next = Math.min(...[...this.#schedules.values()].map(({dueAt}) => dueAt - now), LONGEST_TIMER_MS);
      await this.#sleep.sleep(next, signal).catch(() => undefined); // aborted
    }
  }

  /** Asks a driver now. A failure is logged. */
  async update(driver: string, signal: AbortSignal): Promise<void> {
    const {cluster, drivers, logger} = this.#options;
    try {
      await cluster.limits?.update(await drivers.info(driver, signal), signal);
    } catch (error) {
      if (signal.aborted) return;
      rethrowUnexpected(error);
      logger.forFile('allocatable-updates.ts').error(error, 'Failed to update CSIDriver', {driver});
    }
  }

  #plan(now: number): void {
    const {cluster, drivers} = this.#options;
    const names = new Set(drivers.names);
    for (const driver of this.#schedules.keys()) if (!names.has(driver)) this.#schedules.delete(driver);
    for (const driver of names) {
      const periodMs = updatePeriodMs(cluster, driver);
      if (periodMs === undefined) this.#schedules.delete(driver);
      else if (this.#schedules.get(driver)?.periodMs !== periodMs)
        this.#schedules.set(driver, {periodMs, dueAt: now + periodMs});
    }
  }
}
