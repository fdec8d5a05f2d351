import {lstat} from 'node:fs/promises';
import type {Clock} from '../../base/clock.js';
import {concurrently} from '../../base/concurrently.js';
import {SystemError} from '../../base/errors.js';
import type {Logger} from '../../base/logger.js';
import type {ContainerId, RuntimeService} from '../../cri/index.js';
import {LogDirectory} from './log-directory.js';
import {planRotation, rotatedName} from './plan-rotation.js';

/** When logs are rotated (containerLogMaxSize and its sisters of a KubeletConfiguration). */
export interface LogRotationOptions {
  /** From this size on a log is rotated; negative for never. */
  readonly maxSizeBytes: number;
  /** How many files a container's log may have: at least 2. */
  readonly maxFiles: number;
  /** How many logs are looked after at a time. */
  readonly maxWorkers: number;
  readonly monitorIntervalMs: number;
}

export const DEFAULT_LOG_ROTATION: LogRotationOptions = {
  maxSizeBytes: 10 * 1024 * 1024,
  maxFiles: 5,
  maxWorkers: 1,
  monitorIntervalMs: 10_000,
};

/** A container that runs, and where it writes to: `<podLogsDir>/<podName>/<container>/<log>`. */
export interface LoggedContainer {
  readonly id: ContainerId;
  readonly podLogsDir: string;
  readonly pod: string;
  readonly container: string;
  readonly log: string;
}

/** What the rotator works with. */
export interface LogRotatorParts {
  readonly runtime: Pick<RuntimeService, 'reopenContainerLog'>;
  /** The containers that run now and whose logs are kcri's to rotate. */
  readonly running: () => readonly LoggedContainer[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Keeps the logs of running containers from growing without end (container_log_manager.go). */
export class LogRotator {
  readonly #parts: LogRotatorParts;
  readonly #options: LogRotationOptions;

  /** What the options say may change at any time; no log is rotated while the size is negative. */
  constructor(parts: LogRotatorParts, options: LogRotationOptions = DEFAULT_LOG_ROTATION) {
    this.#parts = parts;
    this.#options = options;
  }

  /** Looks after the logs until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const {clock, logger} = this.#parts;
    logger.info('Initializing container log rotate workers', {
      workers: this.#options.maxWorkers,
      monitorPeriod: `${this.#options.monitorIntervalMs / 1000}s`,
    });
    while (!signal.aborted) {
      if (this.#options.maxSizeBytes >= 0) await this.rotateAll(signal);
      await clock.sleep(this.#options.monitorIntervalMs, signal).catch(() => undefined); // the end
    }
  }

  /** One round over all logs. What fails is logged, and tried again with the next one. */
  async rotateAll(signal: AbortSignal): Promise<void> {
    const {logger, running} = this.#parts;
    logger.info('Starting container log rotation sequence', {}, 4);
    await concurrently(running(), this.#options.maxWorkers, async (container) => {
      try {
        signal.throwIfAborted();
        await this.#lookAfter(container, signal);
      } catch (error) {
        if (error !== signal.reason) this.#tell(error, container);
      }
    });
  }

  #tell(error: unknown, {id, podLogsDir, pod, container, log}: LoggedContainer): void {
    const path = `${podLogsDir}/${pod}/${container}/${log}`;
    this.#parts.logger.error(error, 'Failed to rotate log for container', {containerID: id, path});
  }

  async #lookAfter(running: LoggedContainer, signal: AbortSignal): Promise<void> {
    const {podLogsDir, pod, container, log, id} = running;
    // Nearly always nothing is to be done, which one look tells. Whoever may put links in the way has rotation skipped
    // at most: what is done is done beneath directories that are held.
    const glance = await lstat(`${podLogsDir}/${pod}/${container}/${log}`).catch(() => undefined); // told of below
    if (glance?.isFile() === true && glance.size < this.#options.maxSizeBytes) return;
    const directory = await LogDirectory.open(podLogsDir, pod, container);
    if (directory === undefined) throw new SystemError("the container's log directory doesn't exist");
    try {
      const size = (await directory.sizeOf(log)) ?? (await this.#reopened(directory, running, signal));
      if (size < this.#options.maxSizeBytes) return;
      await this.#makeRoom(directory, log);
      await this.#rotate(directory, log, id, signal);
    } finally {
      await directory[Symbol.asyncDispose]();
    }
  }

  /** The size of a log that was gone and that the runtime was told to make anew. */
  async #reopened(directory: LogDirectory, running: LoggedContainer, signal: AbortSignal): Promise<number> {
    await this.#parts.runtime.reopenContainerLog({containerId: running.id}, {signal});
    const size = await directory.sizeOf(running.log);
    if (size === undefined) throw new SystemError("the log doesn't exist, also after it was reopened");
    return size;
  }

  async #makeRoom(directory: LogDirectory, log: string): Promise<void> {
    const {unused, excess, toCompress} = planRotation(
      await directory.fileNames(),
      log,
      this.#options.maxFiles,
    );
    for (const name of [...unused, ...excess]) await directory.remove(name);
    for (const name of toCompress) await directory.compress(name);
  }

  async #rotate(directory: LogDirectory, log: string, id: ContainerId, signal: AbortSignal): Promise<void> {
    const {clock, runtime} = this.#parts;
    const rotated = rotatedName(log, clock.now());
    await directory.putAway(log, rotated);
    try {
      await runtime.reopenContainerLog({containerId: id}, {signal});
    } catch (error) {
      // So that it is rotated with the next round. A kubelet would replace what a runtime wrote that answered late.
      await directory.takeBack(log, rotated);
      throw error;
    }
  }
}
