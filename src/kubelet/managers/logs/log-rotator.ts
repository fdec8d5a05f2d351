import {lstat} from 'node:fs/promises';
import {pause} from '../../../base/async/pause.js';
import type {Clock} from '../../../base/clock.js';
import {forEachLimit} from '../../../base/async/for-each-limit.js';
import {SystemError} from '../../../base/errors.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import type {ContainerId, RuntimeService} from '../../../cri/index.js';
import type {LiveValue} from '../../contract/live-value.js';
import {LogDirectory} from './log-directory.js';
import {computeLogRotation, rotatedLogName} from './compute-log-rotation.js';

/** Options of log rotation (containerLogMaxSize and related fields of KubeletConfiguration). */
export interface LogRotationOptions {
  /** Size at which a log is rotated; negative for never. */
  readonly maxSizeBytes: number;
  /** Maximum number of log files per container, at least 2. */
  readonly maxFiles: number;
  /** Maximum number of logs rotated concurrently. */
  readonly maxWorkers: number;
  readonly monitorIntervalMs: number;
}

export const DEFAULT_LOG_ROTATION: LogRotationOptions = {
  maxSizeBytes: 10 * 1024 * 1024,
  maxFiles: 5,
  maxWorkers: 1,
  monitorIntervalMs: 10_000,
};

/** A running container and its log file `<podLogsDir>/<pod>/<container>/<log>`. */
export interface LoggedContainer {
  readonly id: ContainerId;
  readonly podLogsDir: string;
  readonly pod: string;
  readonly container: string;
  readonly log: string;
}

/** Dependencies of LogRotator. */
export interface LogRotatorDependencies {
  readonly runtime: Pick<RuntimeService, 'reopenContainerLog'>;
  /** Returns the running containers whose logs kcri rotates. */
  readonly running: () => readonly LoggedContainer[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Rotates the logs of running containers (container_log_manager.go). */
export class LogRotator {
  readonly #dependencies: LogRotatorDependencies;
  readonly #logger: FileLogger;
  readonly #options: LiveValue<LogRotationOptions>;

  constructor(
    dependencies: LogRotatorDependencies,
    options: LiveValue<LogRotationOptions> = {current: DEFAULT_LOG_ROTATION},
  ) {
    this.#dependencies = dependencies;
    this.#logger = dependencies.logger.forFile('log-rotator.ts');
    this.#options = options;
  }

  /** Rotates logs periodically until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const {clock} = this.#dependencies;
    this.#logger.info('Initializing container log rotate workers', {
      workers: this.#options.current.maxWorkers,
      monitorPeriod: `${this.#options.current.monitorIntervalMs / 1000}s`,
    });
    while (!signal.aborted) {
      if (this.#options.current.maxSizeBytes >= 0) await this.rotateAll(signal);
      await pause(clock, this.#options.current.monitorIntervalMs, signal).catch(() => undefined); // aborted
    }
  }

  /** Checks all logs once. Failures are logged and retried with the next call (rotateLogs). */
  async rotateAll(signal: AbortSignal): Promise<void> {
    const {running} = this.#dependencies;
    this.#logger.info('Starting container log rotation sequence', {}, 4);
    await forEachLimit(running(), this.#options.current.maxWorkers, async (container) => {
      try {
        signal.throwIfAborted();
        await this.#rotateIfNeeded(container, signal);
      } catch (error) {
        if (error !== signal.reason) this.#logFailure(error, container);
      }
    });
  }

  #logFailure(error: unknown, {id, podLogsDir, pod, container, log}: LoggedContainer): void {
    const path = `${podLogsDir}/${pod}/${container}/${log}`;
    this.#logger.error(error, 'Failed to rotate log for container', {containerID: id, path});
  }

  async #rotateIfNeeded(running: LoggedContainer, signal: AbortSignal): Promise<void> {
    const {podLogsDir, pod, container, log, id} = running;
    // Usually a stat shows that there is nothing to do. A container that places links here can only prevent the
    // rotation, because all changes are made relative to open directories.
    const stats = await lstat(`${podLogsDir}/${pod}/${container}/${log}`).catch(() => undefined); // reported below
    if (stats?.isFile() === true && stats.size < this.#options.current.maxSizeBytes) return;
    const directory = await LogDirectory.open(podLogsDir, pod, container);
    if (directory === undefined) throw new SystemError("the container's log directory does not exist");
    try {
      const size = (await directory.sizeOf(log)) ?? (await this.#reopenMissing(directory, running, signal));
      if (size < this.#options.current.maxSizeBytes) return;
      await this.#cleanUpRotated(directory, log);
      await this.#rotate(directory, log, id, signal);
    } finally {
      await directory[Symbol.asyncDispose]();
    }
  }

  /** Makes the runtime recreate a missing log and returns its size. */
  async #reopenMissing(
    directory: LogDirectory,
    running: LoggedContainer,
    signal: AbortSignal,
  ): Promise<number> {
    await this.#dependencies.runtime.reopenContainerLog({containerId: running.id}, {signal});
    const size = await directory.sizeOf(running.log);
    if (size === undefined) throw new SystemError('the log does not exist after it was reopened');
    return size;
  }

  /** Removes and compresses older rotated files. */
  async #cleanUpRotated(directory: LogDirectory, log: string): Promise<void> {
    const {unused, excess, toCompress} = computeLogRotation(
      await directory.fileNames(),
      log,
      this.#options.current.maxFiles,
    );
    for (const name of [...unused, ...excess]) await directory.remove(name);
    for (const name of toCompress) await directory.compress(name);
  }

  async #rotate(directory: LogDirectory, log: string, id: ContainerId, signal: AbortSignal): Promise<void> {
    const {clock, runtime} = this.#dependencies;
    const rotated = rotatedLogName(log, clock.now());
    await directory.renameRotated(log, rotated);
    try {
      await runtime.reopenContainerLog({containerId: id}, {signal});
    } catch (error) {
      // The next check rotates the log again. Unlike the kubelet, this does not overwrite a log that the runtime has
      // created meanwhile.
      await directory.undoRename(log, rotated);
      throw error;
    }
  }
}
