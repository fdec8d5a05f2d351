import {join} from 'node:path';
import {coalesce} from '../../../../base/async/coalesce.js';
import {messageOf, rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import type {Logger} from '../../../../base/logger.js';
import {goQuote} from '../../../../format/go-quote.js';
import {readCheckpointFile, writeCheckpointFile} from '../../../resources/checkpoint/checkpoint.js';
import {formatCpuState, parseCpuState, type CheckpointFormat} from './cpu-checkpoint.js';
import {EMPTY_STATE, type CpuState} from './cpu-state.js';

/** Returns the path of the state of the CPU manager. */
export function cpuStatePath(rootDir: string): string {
  return join(rootDir, 'cpu_manager_state');
}

/** Access to the text of a checkpoint. */
export interface CheckpointAccess {
  readonly path: string;
  readonly read: () => Promise<string | undefined>;
  readonly write: (text: string) => Promise<void>;
}

/** Returns access to a file. */
export function checkpointFile(path: string): CheckpointAccess {
  return {
    path,
    read: async () => readCheckpointFile(path),
    write: async (text) => writeCheckpointFile(path, text),
  };
}

/** The stored state of the CPU manager. */
export class CpuStateFile {
  readonly #access: CheckpointAccess;
  readonly #format: CheckpointFormat;
  readonly #logger: Logger;
  #stored: string | undefined;
  #state: CpuState = EMPTY_STATE;
  readonly #write = coalesce(async () => this.#writeChanges());

  constructor(access: CheckpointAccess, format: CheckpointFormat, logger: Logger) {
    this.#access = access;
    this.#format = format;
    this.#logger = logger;
  }

  /**
   * Loads the state; a new file has none. Rejects with SystemError with the kubelet's text if what is stored cannot be used
   * (NewCheckpointState).
   */
  async load(): Promise<CpuState> {
    const {path, read} = this.#access;
    try {
      this.#stored = await read();
      return this.#stored === undefined ? EMPTY_STATE : parseCpuState(this.#stored, this.#format);
    } catch (error) {
      rethrowUnexpected(error);
      throw new SystemError(
        `could not restore state from checkpoint: ${messageOf(error)}, please drain this node and delete the CPU manager checkpoint file ${goQuote(path)} before restarting Kubelet`,
        {cause: error},
      );
    }
  }

  /** Stores a state. A failure is logged; the next call repeats it. */
  async save(state: CpuState): Promise<void> {
    this.#state = state;
    await this.#write();
  }

  async #writeChanges(): Promise<void> {
    const text = formatCpuState(this.#state, this.#format);
    if (text === this.#stored) return;
    try {
      await this.#access.write(text);
      this.#stored = text;
    } catch (error) {
      rethrowUnexpected(error);
      this.#logger.forFile('cpu-state-file.ts').error(error, 'Failed to store state to checkpoint');
    }
  }
}
