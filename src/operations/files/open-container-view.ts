import {open, stat} from 'node:fs/promises';
import {SystemError} from '../../base/errors.js';
import {O_PATH, OPEN_DIRECTORY} from '../../base/fs/file-handles.js';
import type {Connection, RuntimeService} from '../../cri/index.js';
import {processError, withContainerProcess, type ContainerTarget} from './container-process.js';
import {createContainerView, type FileSystemView} from './file-system-view.js';
import {readOwnerMap} from './id-map.js';

/**
 * Opens the file system of a running container, with its volumes, as its main process sees it; undefined if the
 * container does not run. Rejects with KcriError.
 */
async function openRunningView(
  runtime: RuntimeService,
  target: ContainerTarget,
  signal: AbortSignal,
): Promise<FileSystemView | undefined> {
  return await withContainerProcess(runtime, target, signal, async (pid) => {
    try {
      return await openProcessView(pid, target.title);
    } catch (error) {
      throw processError(target.title, error);
    }
  });
}

async function openProcessView(pid: number, title: string): Promise<FileSystemView> {
  const owners = await readOwnerMap(pid);
  const root = await open(`/proc/${pid}/root/`, O_PATH | OPEN_DIRECTORY);
  const [own, host] = await Promise.all([root.stat(), stat('/')]);
  if (own.dev === host.dev && own.ino === host.ino) {
    await root.close();
    throw new SystemError(`the container "${title}" has no root filesystem of its own`, {
      hint: 'its files are those of this machine',
    });
  }
  return createContainerView(root, {owners, title});
}

/** Options of openContainerView. */
export interface ContainerViewOptions {
  /** True if files will be written. */
  readonly isWritten: boolean;
  readonly signal: AbortSignal;
}

/** Opens the file system of a container. Rejects with KcriError. */
export async function openContainerView(
  {runtime}: Pick<Connection, 'runtime'>,
  target: ContainerTarget,
  {signal}: ContainerViewOptions,
): Promise<FileSystemView> {
  const running = await openRunningView(runtime, target, signal);
  if (running !== undefined) return running;
  throw new SystemError(`the container "${target.title}" does not run`, {
    hint: 'start it: this runtime does not show the files of containers that do not run',
  });
}
