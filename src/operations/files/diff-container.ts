import {readFile} from 'node:fs/promises';
import {SystemError} from '../../base/errors.js';
import type {ContainerStatusResponse, RuntimeService} from '../../cri/index.js';
import {inspectContainer} from '../inspect/inspect-objects.js';
import {compareLayers, openLayer, type FileChange} from './compare-layers.js';
import {mountDestinations, withContainerProcess, type ContainerTarget} from './container-process.js';
import {copyError} from './file-system-view.js';
import {
  imageMount,
  overlayLayers,
  readOnlyMount,
  type MountCommand,
  type RootMount,
} from './mount-commands.js';
import {mountPrivately} from './mount-privately.js';
import {findRootMount, type RootMountSource} from './root-mounts.js';

/**
 * Returns the files of a container that differ from its image, whether it runs or not, without its volumes. Rejects
 * with KcriError, also if the root filesystem is not an overlay.
 */
export async function diffContainer(
  runtime: RuntimeService,
  target: ContainerTarget,
  source: RootMountSource,
): Promise<readonly FileChange[]> {
  const {signal} = source;
  const status = await inspectContainer(runtime, target.id, {verbose: true, signal});
  const mount =
    (await findRootMount(target, status, source)) ?? (await readProcessMount(runtime, target, signal));
  if (mount === undefined)
    throw new SystemError(`the container "${target.title}" does not run`, {
      hint: 'start it: this runtime does not tell where the files of other containers are',
    });
  const [upper, image] = [overlayLayers(mount)?.upper, imageMount(mount)];
  if (upper === undefined || image === undefined)
    throw new SystemError(
      `the root filesystem of the container "${target.title}" is not an overlay (${mount.type})`,
      {hint: 'only an overlay has the changes of a container in a directory of their own'},
    );
  try {
    return await compareMounted(upper, [image, readOnlyMount(mount)], status, signal);
  } catch (error) {
    throw copyError('reading', upper, error, {isContainer: false});
  }
}

async function compareMounted(
  path: string,
  commands: readonly MountCommand[],
  status: ContainerStatusResponse,
  signal: AbortSignal,
): Promise<readonly FileChange[]> {
  const {roots, release} = await mountPrivately(commands, signal);
  try {
    const [image, merged] = roots;
    if (image === undefined || merged === undefined) throw new Error('nothing was mounted');
    await using upper = await openLayer(path);
    return await compareLayers({upper, image, merged, mountPoints: mountDestinations(status), signal});
  } finally {
    await release();
  }
}

/** Returns the root mount of a running container as the kernel reports it. */
async function readProcessMount(
  runtime: RuntimeService,
  target: ContainerTarget,
  signal: AbortSignal,
): Promise<RootMount | undefined> {
  const found = await withContainerProcess(runtime, target, signal, async (pid) => ({
    mounts: await readFile(`/proc/${pid}/mountinfo`, 'utf8'),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }));
  const [, type, options] = ROOT_MOUNT.exec(found?.mounts ?? '') ?? [];
  if (type === undefined || options === undefined) return undefined;
  return {
    type,
    source: type,
    options: options.split(',').filter((option) => /^(lowerdir|upperdir|workdir)=/.test(option)),
  };
}

/** Line of the root filesystem in /proc/<pid>/mountinfo: its type and options (proc_pid_mountinfo(5)). */
const ROOT_MOUNT = /^\d+ \d+ \S+ \S+ \/ .*? - (\S+) \S+ (\S+)$/m;
