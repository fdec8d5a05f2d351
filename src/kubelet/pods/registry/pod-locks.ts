import type {Clock} from '../../../base/clock.js';
import {acquireLock, type LockOptions} from '../../../base/fs/lock.js';
import type {PodRef} from '../../contract/pod-ref.js';
import {PodBusyError} from '../pod-errors.js';
import type {PodObserver} from './pod-registry-options.js';

/** Dependencies of PodLocks. */
export interface PodLocksOptions {
  readonly rootDir: string;
  readonly clock: Clock;
  readonly observer: Pick<PodObserver, 'waitingForLock'>;
}

/** Locks in the root directory that prevent two processes from working on one pod. */
export class PodLocks {
  readonly #options: PodLocksOptions;

  constructor(options: PodLocksOptions) {
    this.#options = options;
  }

  /** Runs `work` with the lock of the pod's name held, after waiting for it. Rejects with the signal's reason. */
  async withPodLock<T>(ref: PodRef, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    return await this.#locked(nameOf(ref), this.#waiting(ref, signal), work);
  }

  /** Runs `work` with the lock of the pod's name held. Rejects with PodBusyError if another process holds it. */
  async tryWithPodLock<T>(ref: PodRef, work: () => Promise<T>): Promise<T> {
    const onWait = (pid: number): void => {
      throw new PodBusyError(ref, pid);
    };
    return await this.#locked(nameOf(ref), {onWait}, work);
  }

  /**
   * Runs `work` with the lock of the pod's UID held: pods of different names may claim the same UID at the same time.
   */
  async withUidLock<T>(ref: PodRef, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    // Namespaces never start with an underscore.
    return await this.#locked(`_${ref.uid}`, this.#waiting(ref, signal), work);
  }

  #waiting(ref: PodRef, signal: AbortSignal | undefined): LockOptions {
    const onWait = (pid: number): void => {
      this.#options.observer.waitingForLock(ref, pid);
    };
    return {signal, onWait};
  }

  async #locked<T>(name: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
    const {rootDir, clock} = this.#options;
    const lock = await acquireLock(`${rootDir}/locks/${name}.lock`, {clock, ...options});
    try {
      return await work();
    } finally {
      await lock[Symbol.asyncDispose]();
    }
  }
}

function nameOf({namespace, name}: PodRef): string {
  return `${namespace}_${name}`;
}
