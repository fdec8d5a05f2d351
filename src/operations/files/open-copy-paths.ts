import {open, type FileHandle} from 'node:fs/promises';
import {hasErrno} from '../../base/errors.js';
import {fdPath, OPEN_DIRECTORY} from '../../base/fs/file-handles.js';
import type {FileEntry} from '../../base/tar/file-entry.js';
import {CopyError, copyError, type FileSystemView} from './file-system-view.js';
import type {PlannedDestination} from './plan-copy.js';
import {generatedFileSystemOf, kindOf, openFile, type OpenFile} from './read-tree.js';

/** A path of a file system. */
export interface CopyPath {
  readonly kind: 'path';
  readonly view: FileSystemView;
  readonly path: string;
}

/** A source that was found. */
export interface OpenSource extends OpenFile, AsyncDisposable {
  readonly kind: FileEntry['kind'];
  readonly name: string | undefined;
  readonly isContent: boolean;
}

/** Opens the source of a copy. Rejects with SystemError. */
export async function openSource(
  {view, path}: CopyPath,
  {followsLink}: {readonly followsLink: boolean},
): Promise<OpenSource> {
  try {
    const isContent = /(^|\/)\.$/.test(path);
    const file = await findSource(view, path, followsLink || isContent);
    const kind = kindOf(await file.place.stat());
    if ((path.endsWith('/') || isContent) && kind !== 'directory') {
      await file.place.close();
      throw new CopyError(`${JSON.stringify(view.show(path))} is not a directory`);
    }
    return {...file, kind, isContent, name: lastName(path), [Symbol.asyncDispose]: () => file.place.close()};
  } catch (error) {
    throw copyError('reading', view.show(path), error, view);
  }
}

async function findSource(view: FileSystemView, path: string, followsLink: boolean): Promise<OpenFile> {
  if (followsLink || path.endsWith('/')) return {place: await view.open(path), link: ''};
  const {directory, name} = await view.openParent(path, {followsLast: false});
  try {
    const found = name === undefined ? undefined : await openFile(directory, name);
    // Opens the directory itself, or fails with the error of a file that does not exist.
    return found ?? {place: await view.open(path), link: ''};
  } finally {
    await directory.close();
  }
}

/** Returns the last component of a path; undefined if it has none that could name a copy. */
function lastName(path: string): string | undefined {
  const name = path.split('/').findLast((part) => part !== '' && part !== '.');
  return name === '..' ? undefined : name;
}

/** A destination, with its directory open for reading: itself, or the one in which it is or would be. */
export interface OpenDestination extends PlannedDestination, AsyncDisposable {
  readonly directory: FileHandle;
}

/** Opens the destination of a copy, which need not exist. Rejects with SystemError. */
export async function openDestination({view, path}: CopyPath): Promise<OpenDestination> {
  const shown = view.show(path);
  try {
    const found = await openExisting(view, path);
    const place = found?.isDirectory === true ? found : await openParent(view, path);
    if (place !== found) await found?.handle.close();
    await refuseGenerated(place.handle, shown);
    return {
      kind: found === undefined ? 'missing' : found.isDirectory ? 'directory' : 'other',
      shown,
      name: place.name,
      endsWithSlash: path.endsWith('/'),
      directory: place.handle,
      [Symbol.asyncDispose]: () => place.handle.close(),
    };
  } catch (error) {
    throw copyError('opening', shown, error, view);
  }
}

async function refuseGenerated(directory: FileHandle, shown: string): Promise<void> {
  const type = await generatedFileSystemOf(directory);
  if (type === undefined) return;
  await directory.close();
  throw new CopyError(`cannot copy to ${JSON.stringify(shown)}: it is a ${type} filesystem`);
}

/** An open directory or file. */
interface OpenPlace {
  readonly handle: FileHandle;
  readonly isDirectory: boolean;
  /** Name of the destination in the directory; undefined for the directory itself. */
  readonly name: string | undefined;
}

/** Opens an existing destination, for reading if it is a directory. */
async function openExisting(view: FileSystemView, path: string): Promise<OpenPlace | undefined> {
  try {
    const place = await view.open(path);
    const kind = kindOf(await place.stat());
    if (kind === 'file') return {handle: place, isDirectory: false, name: undefined};
    if (kind !== 'directory') {
      await place.close();
      throw new CopyError(`cannot replace ${JSON.stringify(view.show(path))}: it is a ${kind}`);
    }
    return {handle: await reopenDirectory(place), isDirectory: true, name: undefined};
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function openParent(view: FileSystemView, path: string): Promise<OpenPlace> {
  try {
    const {directory, name} = await view.openParent(path, {followsLast: true});
    return {handle: await reopenDirectory(directory), isDirectory: true, name};
  } catch (error) {
    if (!hasErrno(error, 'ENOENT')) throw error;
    throw new CopyError(`the directory of ${JSON.stringify(view.show(path))} does not exist`, {
      cause: error,
      hint: 'create the directory first',
    });
  }
}

/** Opens a directory for reading that an O_PATH handle is at, and closes the handle. */
async function reopenDirectory(place: FileHandle): Promise<FileHandle> {
  try {
    return await open(fdPath(place), OPEN_DIRECTORY);
  } finally {
    await place.close();
  }
}
