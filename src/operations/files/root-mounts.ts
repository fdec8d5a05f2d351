import {readFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {ifPresent} from '../../base/fs/files.js';
import {isNotFound, isUnimplemented} from '../../cri/errors.js';
import type {ContainerStatusResponse} from '../../cri/index.js';
import {at, factsOf, text} from '../inspect/verbose-info.js';
import type {ContainerTarget} from './container-process.js';
import type {RootMount} from './mount-commands.js';

/** Finds the mounts of root filesystems. */
export interface RootMountSource {
  /** Endpoint of the runtime. */
  readonly endpoint: string;
  readonly signal: AbortSignal;
}

/**
 * Returns what is mounted as the root filesystem of a container, whether it runs or not: from containerd's snapshotter,
 * or from the files of containers/storage, which CRI-O uses; undefined with any other runtime. Rejects with CriError and
 * the system error.
 */
export async function findRootMount(
  {id}: Pick<ContainerTarget, 'id'>,
  status: ContainerStatusResponse,
  source: RootMountSource,
): Promise<RootMount | undefined> {
  return (await findSnapshotMount(id, source)) ?? (await findStorageMount(status));
}

async function findSnapshotMount(
  id: string,
  {endpoint, signal}: RootMountSource,
): Promise<RootMount | undefined> {
  const {connectContainerd} = await import('../../containerd/connect-containerd.js');
  using connection = connectContainerd(endpoint);
  try {
    const {container} = await connection.containers.get({id}, {signal});
    if (container === undefined || container.snapshotKey === '') return undefined;
    const {snapshotter, snapshotKey: key} = container;
    const {mounts} = await connection.snapshots.mounts({snapshotter, key}, {signal});
    const [mount, ...others] = mounts;
    // A filesystem of several mounts is not the root of a container on Linux.
    return others.length > 0 ? undefined : mount;
  } catch (error) {
    if (isUnimplemented(error) || isNotFound(error)) return undefined;
    throw error;
  }
}

/** Directory of the overlay driver of containers/storage: `overlay/<layer>/merged`, with `diff`, `work` and `lower`. */
const STORAGE_ROOT = /\/overlay\/[0-9a-f]{64}\/merged$/;

async function findStorageMount({info}: ContainerStatusResponse): Promise<RootMount | undefined> {
  const root = text(at(factsOf(info), 'runtimeSpec', 'root', 'path'));
  if (!STORAGE_ROOT.test(root)) return undefined;
  const layer = dirname(root);
  const lower = await ifPresent(() => readFile(join(layer, 'lower'), 'utf8'));
  if (lower === undefined) return undefined;
  const lowers = lower
    .trim()
    .split(':')
    .map((short) => join(dirname(layer), short));
  const options = [
    `lowerdir=${lowers.join(':')}`,
    `upperdir=${join(layer, 'diff')}`,
    `workdir=${join(layer, 'work')}`,
  ];
  return {type: 'overlay', source: 'overlay', options};
}
