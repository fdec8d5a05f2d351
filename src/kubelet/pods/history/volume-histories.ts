import {BackgroundWriter, type BackgroundWriterOptions} from '../../../base/async/background-writer.js';
import type {RecordedVolume, VolumeHistory, VolumeStep} from '../../contract/volumes/volume-history.js';

/** A step with its time, in ms since the epoch. */
export interface TimedVolumeStep {
  readonly at: number;
  readonly step: VolumeStep;
}

/** Largest length of an error, in characters; longer ones are truncated. */
const MAX_ERROR_LENGTH = 2048;
/** Maximum number of steps that wait while the histories cannot be read; the oldest are dropped. */
const MAX_WAITING = 100;

/** Returns the histories of a pod's volumes after further steps, in the order in which the volumes were first seen. Pure. */
export function mergeVolumeSteps(
  histories: readonly VolumeHistory[],
  steps: readonly TimedVolumeStep[],
): readonly VolumeHistory[] {
  return steps.reduce((merged, {at, step}) => {
    const time = new Date(at).toISOString();
    if (step.step === 'Unmounted' || step.step === 'UnmountFailed')
      return merged.map((history) => unmounted(history, step, time));
    const known = merged.find(({name}) => name === step.volume.name);
    const changed = change(known ?? newHistory(step.volume), step, time);
    return known === undefined
      ? [...merged, changed]
      : merged.map((history) => (history === known ? changed : history));
  }, histories);
}

function newHistory(volume: RecordedVolume): VolumeHistory {
  return {...volume, failures: 0, totalFailures: 0};
}

function change(
  before: VolumeHistory,
  step: Exclude<VolumeStep, {readonly step: 'Unmounted' | 'UnmountFailed'}>,
  time: string,
): VolumeHistory {
  // The claim of a volume may have got another PersistentVolume.
  const history = {...before, ...step.volume};
  switch (step.step) {
    case 'Staged':
      return isMounted(history) ? history : {...history, stagedAt: time};
    case 'Failed':
      return failed(history, step.error, time);
    case 'Mounted':
      return isMounted(history)
        ? {...history, failures: 0, remountedAt: time}
        : {...history, failures: 0, mountedAt: time, mountMs: Math.round(step.ms)};
  }
}

function unmounted(
  history: VolumeHistory,
  step: Extract<VolumeStep, {readonly step: 'Unmounted' | 'UnmountFailed'}>,
  time: string,
): VolumeHistory {
  if (!isMounted(history)) return history;
  if (step.step === 'UnmountFailed') return failed(history, step.error, time);
  return {...history, failures: 0, unmountedAt: time};
}

function failed(history: VolumeHistory, error: string, time: string): VolumeHistory {
  return {
    ...history,
    failures: history.failures + 1,
    totalFailures: history.totalFailures + 1,
    lastFailedAt: time,
    lastError: error.slice(0, MAX_ERROR_LENGTH),
  };
}

/** Reports whether a volume was mounted and not unmounted since. */
function isMounted({mountedAt, unmountedAt}: VolumeHistory): boolean {
  if (mountedAt === undefined) return false;
  return unmountedAt === undefined || Date.parse(unmountedAt) < Date.parse(mountedAt);
}

/** Storage of the histories of a pod's volumes. `read` and `write` may reject. */
export interface VolumeHistoryStorage extends Omit<BackgroundWriterOptions, 'write'> {
  readonly read: () => Promise<readonly VolumeHistory[]>;
  readonly write: (histories: readonly VolumeHistory[]) => Promise<void>;
}

/**
 * Writes the histories of a pod's volumes in the background. Steps that arrive during a write, or before it is time for the next one,
 * are written together.
 */
export class VolumeHistoryWriter {
  readonly #storage: VolumeHistoryStorage;
  #known: readonly VolumeHistory[] | undefined;
  #steps: readonly TimedVolumeStep[] = [];
  readonly #writer: BackgroundWriter;

  constructor(storage: VolumeHistoryStorage) {
    this.#storage = storage;
    const write = async (): Promise<void> => this.#write();
    this.#writer = new BackgroundWriter({...storage, write});
  }

  add(step: TimedVolumeStep): void {
    this.#steps = [...this.#steps, step].slice(-MAX_WAITING);
    this.#writer.wake();
  }

  /** Drops all that waits. Resolves when nothing is being written. */
  async discard(): Promise<void> {
    await this.#writer.cancel();
    this.#steps = [];
    this.#known = undefined;
  }

  /** Resolves when all is written or a retry has failed. */
  async flush(): Promise<void> {
    await this.#writer.flush();
  }

  /** Writes the histories with the steps that wait. A step waits until the histories before it are known. */
  async #write(): Promise<void> {
    const before = this.#known ?? (await this.#storage.read());
    this.#known = mergeVolumeSteps(before, this.#steps);
    this.#steps = [];
    await this.#storage.write(this.#known);
  }
}
