import {open, type FileHandle} from 'node:fs/promises';
import {isAbsolute} from 'node:path';
import {isSystemCallError, SystemError, unlessRoot, type KcriErrorOptions} from '../../base/errors.js';
import {O_PATH} from '../../base/fs/file-handles.js';
import {
  openInRoot,
  openParentInRoot,
  type OpenInRootOptions,
  type PathPlace,
} from '../../base/fs/open-beneath.js';
import {diskHint, systemErrorCode, systemErrorMessage} from '../../base/system-error-message.js';
import {SAME_OWNERS, type OwnerMap} from './id-map.js';

/** A file system as the processes of a container or of this machine see it. */
export interface FileSystemView extends AsyncDisposable {
  /** Owner IDs of the files. */
  readonly owners: OwnerMap;
  /** True for the file system of a container. */
  readonly isContainer: boolean;
  /** Returns a path for messages: `web:/etc/hosts`. */
  show(path: string): string;
  /** Opens a path as openInRoot does. */
  open(path: string): Promise<FileHandle>;
  /** Opens the directory of a path as openParentInRoot does. */
  openParent(path: string, options: OpenInRootOptions): Promise<PathPlace>;
}

/** The file system of this machine. Relative paths start at the working directory. */
export async function openLocalView(): Promise<FileSystemView> {
  const root = await open('/', O_PATH);
  const absolute = (path: string): string => (isAbsolute(path) ? path : `${process.cwd()}/${path}`);
  return {
    owners: SAME_OWNERS,
    isContainer: false,
    show: (path) => path,
    open: async (path) => await openInRoot(root, absolute(path)),
    openParent: async (path, options) => await openParentInRoot(root, absolute(path), options),
    [Symbol.asyncDispose]: () => root.close(),
  };
}

/** Returns a view of the file system whose root directory is open; the view closes it. */
export function createContainerView(
  root: FileHandle,
  {
    owners,
    title,
  }: {
    readonly owners: OwnerMap;
    /** Name of the container in messages. */
    readonly title: string;
  },
): FileSystemView {
  return {
    owners,
    isContainer: true,
    show: (path) => `${title}:${path}`,
    open: async (path) => await openInRoot(root, path),
    openParent: async (path, options) => await openParentInRoot(root, path, options),
    [Symbol.asyncDispose]: () => root.close(),
  };
}

const CONTAINER_HINTS: Readonly<Record<string, string>> = {
  EROFS:
    'the root filesystem or the mount is read-only in the container: use a writable volume, such as an emptyDir',
  ENOSPC: 'free some space, or use another volume',
  EDQUOT: 'free some space, or use another volume',
};

/**
 * Creates the error of an operation on a file: `writing "web:/etc/hosts": read-only file system`. A SystemError is
 * returned unchanged.
 */
export function copyError(
  doing: string,
  path: string,
  cause: unknown,
  {isContainer}: Pick<FileSystemView, 'isContainer'>,
): unknown {
  if (!(cause instanceof Error) || !isSystemCallError(cause)) return cause;
  const code = systemErrorCode(cause);
  const isDenied = code === 'EACCES' || code === 'EPERM';
  const hint = isDenied
    ? unlessRoot(
        'run as root, or choose files that you can access',
        'the filesystem or a security module refuses it',
      )
    : isContainer
      ? CONTAINER_HINTS[code]
      : diskHint(cause);
  return new CopyError(`${doing} ${JSON.stringify(path)}: ${systemErrorMessage(cause)}`, {cause, hint});
}

/** A file that cannot be copied. */
export class CopyError extends SystemError {
  constructor(message: string, options: KcriErrorOptions = {}) {
    super(message, options);
  }
}
