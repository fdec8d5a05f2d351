import {open, stat} from 'node:fs/promises';
import {posix} from 'node:path';
import {SystemError} from '../../base/errors.js';
import {O_PATH, OPEN_DIRECTORY} from '../../base/fs/file-handles.js';
import type {Connection, ContainerStatusResponse, RuntimeService} from '../../cri/index.js';
import type {Json} from '../../format/json.js';
import {inspectContainer} from '../inspect/inspect-objects.js';
import {at, factsOf, number} from '../inspect/verbose-info.js';
import {
  mountDestinations,
  processError,
  withContainerProcess,
  type ContainerTarget,
} from './container-process.js';
import {createContainerView, type FileSystemView} from './file-system-view.js';
import {parseIdMap, readOwnerMap, SAME_OWNERS, type IdMap, type OwnerMap} from './id-map.js';
import {isIdMapped, readOnlyMount, writableMount} from './mount-commands.js';
import {mountPrivately} from './mount-privately.js';
import {findRootMount, type RootMountSource} from './root-mounts.js';

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

/** A container that does not run, whose files are opened without its volumes. */
interface StoppedContainer extends ContainerTarget {
  readonly status: ContainerStatusResponse;
}

/** Options of openContainerView. */
export interface ContainerViewOptions extends RootMountSource {
  /** Path that is copied from or to. */
  readonly path: string;
  /** True if files will be written. */
  readonly isWritten: boolean;
}

/**
 * Opens the file system of a container. That of a container that does not run lacks its volumes, as far as the runtime
 * still has it. Rejects with KcriError.
 */
export async function openContainerView(
  {runtime}: Pick<Connection, 'runtime'>,
  target: ContainerTarget,
  options: ContainerViewOptions,
): Promise<FileSystemView> {
  const {signal} = options;
  const running = await openRunningView(runtime, target, signal);
  if (running !== undefined) return running;
  const status = await inspectContainer(runtime, target.id, {verbose: true, signal});
  return await openStoppedView({...target, status}, options);
}

async function openStoppedView(
  container: StoppedContainer,
  options: ContainerViewOptions,
): Promise<FileSystemView> {
  const {title, status} = container;
  rejectVolume(container, options.path);
  if (options.isWritten) requireWritable(container);
  const mount = await findRootMount(container, status, options);
  if (mount === undefined)
    throw new SystemError(`the container "${title}" does not run`, {
      hint: 'start it: this runtime does not tell where the files of other containers are',
    });
  const command = options.isWritten ? writableMount(mount) : readOnlyMount(mount);
  const {roots, release} = await mountPrivately([command], options.signal);
  const [root] = roots;
  if (root === undefined) throw new Error('nothing was mounted');
  // Files of a mount that the runtime maps have the IDs of the container.
  const owners = isIdMapped(mount) ? SAME_OWNERS : ownersOfSpec(status);
  return {...createContainerView(root, {owners, title}), [Symbol.asyncDispose]: release};
}

/** Rejects paths on volumes, which are not mounted while the container does not run. */
function rejectVolume({title, status}: StoppedContainer, path: string): void {
  const absolute = posix.resolve('/', path);
  const volume = mountDestinations(status).find(
    (destination) => absolute === destination || absolute.startsWith(`${destination}/`),
  );
  if (volume !== undefined)
    throw new SystemError(`"${title}:${path}" is on the volume ${volume}, and the container does not run`, {
      hint: 'start the container, or use the directory of the volume on this machine',
    });
}

function requireWritable({title, status}: StoppedContainer): void {
  const root = at(factsOf(status.info), 'runtimeSpec', 'root');
  if (at(root, 'readonly') === true)
    throw new SystemError(`the container "${title}" has a read-only root filesystem`);
}

/** Returns the owner mapping in the runtime spec of a container. */
function ownersOfSpec({info}: ContainerStatusResponse): OwnerMap {
  const linux = at(factsOf(info), 'runtimeSpec', 'linux');
  const mapOf = (key: string): IdMap => {
    const ranges = at(linux, key);
    if (!Array.isArray(ranges) || ranges.length === 0) return SAME_OWNERS.uid;
    const rows = (ranges as readonly Json[]).map((range) =>
      ['containerID', 'hostID', 'size'].map((field) => number(at(range, field)) ?? 0).join(' '),
    );
    return parseIdMap(rows.join('\n'));
  };
  return {uid: mapOf('uidMappings'), gid: mapOf('gidMappings')};
}
