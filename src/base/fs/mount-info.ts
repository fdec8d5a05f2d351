/** A mount in the mount namespace of this process. */
export interface MountPoint {
  readonly id: number;
  /** ID of the mount that contains this one. */
  readonly parentId: number;
  /** Device number of the filesystem, such as `8:1`; equal for all mounts of it. */
  readonly device: string;
  /** Directory of the filesystem that is mounted; `/` unless it is a bind mount of a part. */
  readonly root: string;
  readonly path: string;
  readonly fileSystem: string;
  /** Device or other source of the filesystem, such as `/dev/sda1` or `server:/export`. */
  readonly source: string;
  /** True if the mount receives mounts and unmounts from its master, but does not propagate its own. */
  readonly isSlave: boolean;
  /** True if mounts and unmounts below the mount propagate to its peers. */
  readonly isShared: boolean;
}

/** Parses /proc/<pid>/mountinfo (proc_pid_mountinfo(5)). */
export function parseMountInfo(text: string): readonly MountPoint[] {
  return text.split('\n').flatMap((line) => {
    const [left = '', right = ''] = line.split(' - ', 2);
    const [id, parentId, device = '', root = '', path, , ...optional] = left.split(' ');
    if (path === undefined) return [];
    const [fileSystem = '', source = ''] = right.split(' ', 2);
    return {
      id: Number(id),
      parentId: Number(parentId),
      device,
      root: unescapePath(root),
      path: unescapePath(path),
      fileSystem,
      source: unescapePath(source),
      isSlave: optional.some((field) => field.startsWith('master:')),
      isShared: optional.some((field) => field.startsWith('shared:')),
    };
  });
}

/** Decodes octal escapes such as `\040`, which the kernel writes for white space and backslashes. */
function unescapePath(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_escape, digits: string) => String.fromCharCode(parseInt(digits, 8)));
}
