import {stateDirectory} from '../../../base/fs/state-directory.js';
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
  /** Ends of the last work of this process under tryWithPodLock, by name; they never reject. */
  readonly #ends = new Map<string, Promise<void>>();

  constructor(options: PodLocksOptions) {
    this.#options = options;
  }

  /** Runs `work` with the lock of the pod's name held, after waiting for it. Rejects with the signal's reason. */
  async withPodLock<T>(ref: PodRef, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    return await this.#locked(nameOf(ref), this.#waiting(ref, signal), work);
  }

  /**
   * Runs `work` with the lock of the pod's name held, after other work of this process on pods of that name, such as an
   * older version of a static pod. Rejects with PodBusyError if another process holds the lock.
   */
  async tryWithPodLock<T>(ref: PodRef, work: () => Promise<T>): Promise<T> {
    const name = nameOf(ref);
    const onWait = (pid: number): void => {
      throw new PodBusyError(ref, pid);
    };
    const before = this.#ends.get(name) ?? Promise.resolve();
    const result = before.then(async () => await this.#locked(name, {onWait}, work));
    const end = result.then(ignore, ignore);
    this.#ends.set(name, end);
    try {
      return await result;
    } finally {
      if (this.#ends.get(name) === end) this.#ends.delete(name);
    }
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
    const lock = await acquireLock(`${stateDirectory(rootDir)}/locks/${name}.lock`, {clock, ...options});
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

const ignore = (): void => undefined;
