import {open, opendir, type FileHandle} from 'node:fs/promises';
import {bytesToText} from '../../base/byte-text.js';
import {fdPath, O_PATH} from '../../base/fs/file-handles.js';
import {openFile, type OpenFile} from './read-tree.js';

/** A file that differs from the image: added, changed or deleted. */
export interface FileChange {
  readonly change: 'A' | 'C' | 'D';
  /** Absolute path in the container; a text of bytesToText. */
  readonly path: string;
}

/** The layers of a container. */
export interface ComparedLayers {
  /** Directory with the changes of the container. */
  readonly upper: FileHandle;
  /** Root directory of the image. */
  readonly image: FileHandle;
  /** Root directory of the container, without its volumes. */
  readonly merged: FileHandle;
  /** Paths on which volumes are mounted. */
  readonly mountPoints: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * Returns the changes in the upper layer of an overlay, as docker diff does, parents first and sorted. Directories and
 * files that only serve as mount points are left out. No link is followed. Rejects with the system error.
 */
export async function compareLayers(layers: ComparedLayers): Promise<readonly FileChange[]> {
  const {upper, image, merged} = layers;
  return await new LayerComparison(layers).directory('', {upper, image, merged});
}

/** A directory of the upper layer, and the same in the image and in the container, if it exists there. */
interface Directories {
  readonly upper: FileHandle;
  readonly image: FileHandle | undefined;
  readonly merged: FileHandle | undefined;
}

class LayerComparison {
  readonly #mountPoints: ReadonlySet<string>;
  readonly #signal: AbortSignal;

  constructor({mountPoints, signal}: ComparedLayers) {
    this.#mountPoints = new Set(mountPoints);
    this.#signal = signal;
  }

  async directory(path: string, directories: Directories): Promise<readonly FileChange[]> {
    this.#signal.throwIfAborted();
    const names = await namesIn(directories.upper);
    const hidden = await hiddenNames(new Set(names), directories);
    const changes: FileChange[] = [];
    for (const name of [...names, ...hidden].toSorted()) {
      const child = `${path}/${name}`;
      if (hidden.has(name)) changes.push({change: 'D', path: child});
      else changes.push(...(await this.#entry(child, name, directories)));
    }
    return changes;
  }

  async #entry(path: string, name: string, directories: Directories): Promise<readonly FileChange[]> {
    await using upper = await openEntry(directories.upper, name);
    await using image = await openEntry(directories.image, name);
    await using merged = await openEntry(directories.merged, name);
    if (upper === undefined) return [];
    const change = image === undefined ? 'A' : 'C';
    if (upper.isWhiteout) return image === undefined ? [] : [{change: 'D', path}];
    if (this.#mountPoints.has(path)) return [];
    const own: FileChange = {change, path};
    if (!upper.isDirectory) return [own];
    const inside = await this.directory(path, {
      upper: upper.place,
      image: directoryOf(image),
      merged: directoryOf(merged),
    });
    return inside.length === 0 && this.#leadsToMountPoint(path) ? [] : [own, ...inside];
  }

  /** Reports whether the runtime may have created a directory for a mount point in it. */
  #leadsToMountPoint(path: string): boolean {
    return [...this.#mountPoints].some((point) => point.startsWith(`${path}/`));
  }
}

/** A file of a layer. */
interface Entry extends OpenFile, AsyncDisposable {
  readonly isDirectory: boolean;
  /** True if it stands for a deleted file of the image. */
  readonly isWhiteout: boolean;
}

function directoryOf(entry: Entry | undefined): FileHandle | undefined {
  return entry?.isDirectory === true ? entry.place : undefined;
}

async function openEntry(directory: FileHandle | undefined, name: string): Promise<Entry | undefined> {
  if (directory === undefined) return undefined;
  const file = await openFile(directory, name);
  if (file === undefined) return undefined;
  const stats = await file.place.stat();
  return {
    ...file,
    isDirectory: stats.isDirectory(),
    isWhiteout: stats.isCharacterDevice() && stats.rdev === 0,
    [Symbol.asyncDispose]: () => file.place.close(),
  };
}

async function namesIn(directory: FileHandle): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const entry of await opendir(fdPath(directory), {encoding: 'latin1'}))
    names.push(bytesToText(Buffer.from(entry.name, 'latin1')));
  return names;
}

/**
 * Returns the names of the image that an opaque directory of the upper layer hides. Node.js cannot read the attribute
 * that makes it opaque, but either all names of the image that the upper layer lacks are hidden, or none.
 */
async function hiddenNames(
  upper: ReadonlySet<string>,
  {image, merged}: Directories,
): Promise<ReadonlySet<string>> {
  if (image === undefined) return new Set();
  const absent = (await namesIn(image)).filter((name) => !upper.has(name));
  const [sample] = absent;
  if (sample === undefined) return new Set();
  await using shown = await openEntry(merged, sample);
  return new Set(shown === undefined ? absent : []);
}

/** Opens a directory of this machine as an O_PATH handle. Rejects with the system error. */
export async function openLayer(path: string): Promise<FileHandle> {
  return await open(path, O_PATH);
}
