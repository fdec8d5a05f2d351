import {allContainersOf} from '../../../api/pod-containers.js';
import {join, posix} from 'node:path';
import type {Container, Pod} from '../../../api/types/v1-pod.js';
import {SystemError} from '../../../base/errors.js';
import {makeDirectoryPath} from '../../../base/fs/make-directory-path.js';

/**
 * Returns the paths in a volume where other volumes are mounted, relative to its root (getNestedMountpoints). They must
 * exist, because the runtime cannot create them in a read-only volume. Of nested paths only the outermost is returned.
 *
 * @throws SystemError for a mount path outside the container.
 */
export function nestedMountPoints(pod: Pod, volumeName: string): readonly string[] {
  return [...new Set(allContainersOf(pod).flatMap((container) => nestedIn(container, volumeName)))];
}

function nestedIn({volumeMounts = []}: Container, volumeName: string): readonly string[] {
  const mounts = volumeMounts.map(({name, mountPath}) => ({name, path: cleanPath(mountPath)}));
  const paths = mounts.map(({path}) => path).sort();
  return mounts
    .filter(({name}) => name === volumeName)
    .flatMap(({path}) => {
      if (path.startsWith('../')) throw new SystemError(`invalid container mount point ${path}`);
      const below = paths.filter((other) => other.startsWith(`${path}/`));
      const outer = below.filter((one) => !below.some((other) => one.startsWith(`${other}/`)));
      return outer.map((other) => other.slice(path.length + 1));
    });
}

/** Normalizes a path and removes a trailing slash. */
function cleanPath(path: string): string {
  return posix.normalize(path).replace(/(?<=.)\/$/, '');
}

/** Creates the nested mount points of a volume at `directory` (MakeNestedMountpoints). Rejects with SystemError. */
export async function makeNestedMountPoints(pod: Pod, volumeName: string, directory: string): Promise<void> {
  for (const path of nestedMountPoints(pod, volumeName))
    await makeDirectoryPath(join(directory, path), 0o755);
}
