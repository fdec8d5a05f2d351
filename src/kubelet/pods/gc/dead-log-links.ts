import {messageOf} from '../../../base/errors.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import {containerId, isNotFound, type RuntimeService} from '../../../cri/index.js';
import type {ContainerLogLinks, DeadLogLink} from '../../managers/pod-filesystem/container-log-links.js';

/** Dependencies of DeadLogLinks. */
export interface DeadLogLinksOptions {
  readonly links: Pick<ContainerLogLinks, 'listDead' | 'removeDead'>;
  readonly runtime: Pick<RuntimeService, 'containerStatus'>;
  /** Reports whether this program has created the pod. */
  readonly isOwn: (podUid: string) => boolean;
  readonly logger: Logger;
}

/** Removes links to logs that do not exist any more (kuberuntime_gc.go evictPodLogsDirectories). */
export class DeadLogLinks {
  readonly #options: DeadLogLinksOptions;
  readonly #logger: FileLogger;

  constructor(options: DeadLogLinksOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('dead-log-links.ts');
  }

  /** Removes the links that are due. Logs failures, which the next round retries; never rejects. */
  async collect(): Promise<void> {
    const {links} = this.#options;
    try {
      for (const link of await links.listDead()) await this.#removeIfUnused(link);
    } catch (error) {
      this.#logger.error(error, 'Failed to read container log symlinks');
    }
  }

  async #removeIfUnused(link: DeadLogLink): Promise<void> {
    const {links} = this.#options;
    const {name: path} = link;
    try {
      if (!(await this.#isUnused(link))) return;
      await links.removeDead(link);
      this.#logger.info('Removed symlink', {path}, 4);
    } catch (error) {
      this.#logger.error(messageOf(error), 'Failed to remove container log dead symlink', {path});
    }
  }

  /**
   * Reports whether the log will not come back. While it is rotated, the log of a running container does not exist for a
   * moment; the container of another kubelet may be in a runtime that does not answer here, so that links of its pods are
   * left until their logs are removed.
   */
  async #isUnused({podUid, hasPodLogs, containerId: id}: DeadLogLink): Promise<boolean> {
    const {runtime, isOwn} = this.#options;
    if (hasPodLogs && !isOwn(podUid)) return false;
    if (id === undefined) return true;
    try {
      const {status} = await runtime.containerStatus({containerId: containerId(id)});
      return status?.state === 'CONTAINER_EXITED';
    } catch (error) {
      if (isNotFound(error)) return true;
      throw error;
    }
  }
}
