import {join} from 'node:path';
import {coalesce} from '../../../base/async/coalesce.js';
import {SystemError} from '../../../base/errors.js';
import {writeFileAtomicWithFileSync} from '../../../base/fs/atomic-write.js';
import {withFileErrors} from '../../../base/fs/files.js';
import type {Logger} from '../../../base/logger.js';
import type {PodUid} from '../../../cri/index.js';
import type {PodAllocation} from '../../contract/resources/actuated-resources.js';
import {formatPodResourceCheckpoint, readPodResourceCheckpoint} from './pod-resource-checkpoint.js';

/** Returns the path of the kubelet's file of the resources that are allocated to pods, or actuated. */
export function podResourceCheckpointPath(rootDir: string, what: 'allocated' | 'actuated'): string {
  return join(rootDir, `${what}_pods_state`);
}

/**
 * Resources of the daemon's pods, kept in a file of the kubelet's format (state.stateCheckpoint). Changes at one time share a
 * write. As in a kubelet, a pod that was removed stays in the file until the next change of another one, and each write waits for
 * the disk: a kubelet does not start with a file that a power failure has emptied.
 */
export class CheckpointedResources extends Map<PodUid, PodAllocation> {
  readonly #path: string;
  readonly #logger: Logger;
  /** Text of the file, as far as this process knows. */
  #text: string | undefined;
  #lastWrite = Promise.resolve();
  readonly #write = coalesce(async () => this.#writeChanges());

  constructor(path: string, logger: Logger) {
    super();
    this.#path = path;
    this.#logger = logger;
  }

  /**
   * Loads what another process has stored. Invalid content counts as missing, and is reported: the next change replaces it.
   * Rejects with SystemError if the file cannot be read.
   */
  async load(): Promise<void> {
    const {resources, text, problem} = await this.#read();
    this.#text = text;
    for (const [uid, allocation] of resources) super.set(uid, allocation);
    if (problem === undefined) return;
    const fields = {path: this.#path};
    this.#log.error(
      problem,
      'Ignoring the resources of pods, resizes in progress count as completed',
      fields,
    );
  }

  /** Sets the resources of a pod and starts to write them. */
  override set(uid: PodUid, allocation: PodAllocation): this {
    super.set(uid, allocation);
    this.#lastWrite = this.#write();
    return this;
  }

  /** Resolves when everything that was set has been written, or its write has failed and was reported. */
  async written(): Promise<void> {
    await this.#lastWrite;
  }

  async #read(): ReturnType<typeof readPodResourceCheckpoint> {
    try {
      return await readPodResourceCheckpoint(this.#path);
    } catch (cause) {
      if (!(cause instanceof SystemError)) throw cause;
      const hint = 'make it readable, or drain the node and remove it';
      throw new SystemError(cause.message, {cause, hint});
    }
  }

  async #writeChanges(): Promise<void> {
    const text = formatPodResourceCheckpoint(this);
    if (text === this.#text) return;
    try {
      await withFileErrors('writing', this.#path, () => writeFileAtomicWithFileSync(this.#path, text, 0o600));
      this.#text = text;
    } catch (error) {
      this.#log.error(error, 'Failed to save pod resource information checkpoint', {path: this.#path});
    }
  }

  get #log(): ReturnType<Logger['forFile']> {
    return this.#logger.forFile('checkpointed-resources.ts');
  }
}
