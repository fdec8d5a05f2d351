import {lstat, readdir, readlink, realpath, stat, statfs} from 'node:fs/promises';
import {dirname, join, resolve} from 'node:path';
import {abortable} from '../../../base/async/abortable.js';
import {hasErrno, SystemError} from '../../../base/errors.js';
import {mayHang} from '../../../base/fs/file-system-kinds.js';
import {parseMountInfo} from '../../../base/fs/mount-info.js';
import {LOCAL_FILES} from '../../why/snapshot/node-files.js';
import {mapFact, readFact, valueOf, type Fact} from '../fact.js';
import type {DiskFacts, FileFacts, MountFacts} from '../node-snapshot.js';
import {MAX_TEXT_BYTES, type FileReader} from './file-reader.js';

/** Size of a list of mounts that is read. */
export const MAX_MOUNT_BYTES = 16 * MAX_TEXT_BYTES;
/** Number of symbolic links that are followed, as in the kernel. */
const MAX_LINKS = 40;
/** File systems of the kernel, which have no others below that could hang. */
const OF_KERNEL = /^\/(proc|sys)\//;

/**
 * Reads files of this machine without the risk to hang: a thread that waits for a file system of a dead server cannot be
 * ended, and keeps the process. Files on such file systems are not read.
 */
export class LocalFileReader implements FileReader {
  readonly #mounts: Fact<readonly MountFacts[]>;
  /** Mounts of file systems that may hang; mostly none. */
  readonly #remote: readonly MountFacts[];
  readonly #signal: AbortSignal;

  private constructor(mounts: Fact<readonly MountFacts[]>, signal: AbortSignal) {
    this.#mounts = mounts;
    this.#remote = (valueOf(mounts) ?? []).filter(({fileSystem}) => mayHang(fileSystem));
    this.#signal = signal;
  }

  /** Creates a reader whose reads end when the signal aborts. `path` is the list of mounts. */
  static async open(signal: AbortSignal, path = '/proc/self/mountinfo'): Promise<LocalFileReader> {
    const text = await readFact(async () => await LOCAL_FILES.read(path, MAX_MOUNT_BYTES), path);
    return new LocalFileReader(mapFact(text, parseMounts), signal);
  }

  get mounts(): Fact<readonly MountFacts[]> {
    return this.#mounts;
  }

  async fact<T>(read: () => Promise<T>, subject = ''): Promise<Fact<T>> {
    return await readFact(async () => await abortable(read(), this.#signal), subject);
  }

  async onNode<T>(read: () => Promise<T>, subject: string): Promise<Fact<T>> {
    return await this.fact(read, subject);
  }

  async text(path: string, maxBytes = MAX_TEXT_BYTES): Promise<Fact<string>> {
    return await this.fact(async () => {
      await this.#requireLocal(path);
      if (!OF_KERNEL.test(path) && !(await stat(path)).isFile())
        throw new SystemError('it is not a regular file');
      return await LOCAL_FILES.read(path, maxBytes);
    }, path);
  }

  async names(path: string): Promise<Fact<readonly string[]>> {
    return await this.fact(async () => {
      await this.#requireLocal(path);
      return (await readdir(path)).sort();
    }, path);
  }

  async file(path: string): Promise<Fact<FileFacts>> {
    return await this.fact(async () => {
      await this.#requireLocal(path);
      const found = await stat(path);
      return {
        kind: found.isFile()
          ? 'file'
          : found.isDirectory()
            ? 'directory'
            : found.isSocket()
              ? 'socket'
              : 'other',
        mode: found.mode & 0o7777,
        owner: found.uid,
        bytes: found.size,
        modifiedAt: found.mtime.toISOString(),
      };
    }, path);
  }

  async mount(path: string): Promise<Fact<MountFacts>> {
    return await this.fact(async () => {
      await this.#requireLocal(path);
      return requireMount(await realpath(path), this.#mounts);
    }, path);
  }

  async space(path: string): Promise<DiskFacts['space']> {
    return await this.fact(async () => {
      await this.#requireLocal(path);
      const {bsize, bavail, blocks, files, ffree} = await statfs(path);
      return {bytes: blocks * bsize, availableBytes: bavail * bsize, inodes: files, freeInodes: ffree};
    }, path);
  }

  /** Rejects with SystemError if a path leads to a file system that may hang. */
  async #requireLocal(path: string): Promise<void> {
    const remote = this.#remote;
    if (OF_KERNEL.test(path) || remote.length === 0) return;
    await followLinks(resolve(path), (place) => {
      if (!remote.some((mount) => contains(mount, place))) return;
      const mount = mountOf(place, valueOf(this.#mounts) ?? []);
      if (mount !== undefined && mayHang(mount.fileSystem))
        throw new SystemError(
          `it was not read: it is on ${mount.path} (${mount.fileSystem} of ${mount.source}), which may hang`,
        );
    });
  }
}

/** Returns the mount that contains a path without symbolic links. Throws SystemError if the mounts are not known. */
export function requireMount(path: string, mounts: Fact<readonly MountFacts[]>): MountFacts {
  const mount = mountOf(path, valueOf(mounts) ?? []);
  if (mount === undefined) throw new SystemError('it is on no known mount');
  return mount;
}

/** Returns the mount that contains a path. */
function mountOf(path: string, mounts: readonly MountFacts[]): MountFacts | undefined {
  const above = mounts.filter((mount) => contains(mount, path));
  return above.reduce<MountFacts | undefined>(
    (best, mount) => (best === undefined || mount.path.length >= best.path.length ? mount : best),
    undefined,
  );
}

function contains(mount: MountFacts, path: string): boolean {
  return mount.path === '/' || `${path}/`.startsWith(`${mount.path}/`);
}

/** Calls `visit` with each place that the system passes on the way to a path, before it asks about it. */
async function followLinks(path: string, visit: (place: string) => void): Promise<void> {
  let rest = path.split('/').filter((part) => part !== '');
  let place = '/';
  for (let links = 0; rest.length > 0 && links < MAX_LINKS;) {
    const [part = '', ...others] = rest;
    const next = join(place, part);
    visit(next);
    const target = await targetOf(next);
    if (target === undefined) [place, rest] = [next, others];
    else {
      links += 1;
      const absolute = resolve(dirname(next), target);
      [place, rest] = ['/', [...absolute.split('/').filter((each) => each !== ''), ...others]];
    }
  }
}

async function targetOf(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'EACCES', 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** Returns the mounts in a list of the kernel. Pure. */
export function parseMounts(text: string): readonly MountFacts[] {
  const readOnly = new Set(
    text
      .split('\n')
      .map((line) => line.split(' '))
      .filter((fields) => /^ro(,|$)/.test(fields[5] ?? ''))
      .map(([id]) => Number(id)),
  );
  return parseMountInfo(text).map(({id, path, fileSystem, source, device}) => ({
    path,
    fileSystem,
    source,
    device,
    isReadOnly: readOnly.has(id),
  }));
}
