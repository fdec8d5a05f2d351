import {join, posix} from 'node:path';
import type {Container, Pod} from '../../api/v1.js';
import {SystemError} from '../../base/errors.js';
import {makeDirectoryPath} from '../../base/make-directory-path.js';

/**
 * Where in a volume other volumes are mounted, relative to its root (getNestedMountpoints): the runtime can't make these
 * directories in a volume that it mounts read-only. Of two mounts in one another only the outer one counts.
 *
 * @throws SystemError in the kubelet's words for a mount path that climbs out of the container.
 */
export function nestedMountPoints(pod: Pod, volumeName: string): readonly string[] {
  const {initContainers = [], containers, ephemeralContainers = []} = pod.spec;
  const all: readonly Container[] = [...initContainers, ...containers, ...ephemeralContainers];
  return [...new Set(all.flatMap((container) => nestedIn(container, volumeName)))];
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

/** Without a slash at the end. */
function cleanPath(path: string): string {
  return posix.normalize(path).replace(/(?<=.)\/$/, '');
}

/** Makes those directories in the volume at `directory` (MakeNestedMountpoints). Rejects with SystemError. */
export async function makeNestedMountPoints(pod: Pod, volumeName: string, directory: string): Promise<void> {
  for (const path of nestedMountPoints(pod, volumeName))
    await makeDirectoryPath(join(directory, path), 0o755);
}
