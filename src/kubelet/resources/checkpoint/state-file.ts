import {coalesce} from '../../../base/async/coalesce.js';
import {messageOf, rethrowUnexpected, SystemError} from '../../../base/errors.js';
import type {Logger} from '../../../base/logger.js';
import {readCheckpointFile, writeCheckpointFile} from './checkpoint.js';

/** Access to the text of a checkpoint. */
export interface CheckpointAccess {
  readonly path: string;
  /** Resolves with undefined if there is none. */
  readonly read: () => Promise<string | undefined>;
  readonly write: (text: string) => Promise<void>;
}

/** Returns access to a file; a plan does not write to it. */
export function checkpointFile(
  path: string,
  {isPlan = false}: {readonly isPlan?: boolean},
): CheckpointAccess {
  return {
    path,
    read: async () => readCheckpointFile(path),
    write: async (text) => (isPlan ? undefined : writeCheckpointFile(path, text)),
  };
}

/** How the state of a manager is stored. */
export interface StateFormat<T> {
  /** The manager in errors, such as `memory manager`. */
  readonly manager: string;
  readonly format: (state: T) => string;
  /** Throws SystemError with the kubelet's text. */
  readonly parse: (text: string) => T;
}

/** The stored state of a manager, which is an unchangeable value. */
export class StateFile<T> {
  readonly #access: CheckpointAccess;
  readonly #format: StateFormat<T>;
  readonly #logger: Logger;
  /** Text and state that are stored. */
  #stored: string | undefined;
  #storedState: T | undefined;
  #state: T | undefined;
  #lastWrite = Promise.resolve();
  readonly #write = coalesce(async () => this.#writeChanges());

  constructor(access: CheckpointAccess, format: StateFormat<T>, logger: Logger) {
    this.#access = access;
    this.#format = format;
    this.#logger = logger;
  }

  get path(): string {
    return this.#access.path;
  }

  /**
   * Loads the state; undefined if none is stored. Rejects with SystemError with the kubelet's text if what is stored cannot be
   * used (NewCheckpointState).
   */
  async load(): Promise<T | undefined> {
    const {manager, parse} = this.#format;
    try {
      this.#stored = await this.#access.read();
      this.#storedState = this.#stored === undefined ? undefined : parse(this.#stored);
      return this.#storedState;
    } catch (cause) {
      rethrowUnexpected(cause);
      throw new SystemError(
        `could not restore state from checkpoint: ${messageOf(cause)}, please drain this node and delete the ${manager} checkpoint file "${this.path}" before restarting Kubelet`,
        {cause},
      );
    }
  }

  /** Stores a state. A failure is logged, and repeated with the next change: the state in memory counts. */
  async save(state: T): Promise<void> {
    this.startToSave(state);
    await this.#lastWrite;
  }

  /** Starts to store a state. */
  startToSave(state: T): void {
    this.#state = state;
    this.#lastWrite = this.#write();
  }

  async #writeChanges(): Promise<void> {
    const state = this.#state;
    if (state === undefined || state === this.#storedState) return;
    const text = this.#format.format(state);
    try {
      if (text !== this.#stored) await this.#access.write(text);
      this.#stored = text;
      this.#storedState = state;
    } catch (error) {
      const log = this.#logger.forFile('state-file.ts');
      log.error(error, 'Failed to store state to checkpoint', {path: this.path});
    }
  }
}
