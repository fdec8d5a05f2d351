import type {FileHandle} from 'node:fs/promises';
import {posix} from 'node:path';
import {removeAbandonedFiles} from '../../base/fs/atomic-write.js';
import {fdPath} from '../../base/fs/file-handles.js';
import type {FileEntry, FileKind} from '../../base/tar/file-entry.js';
import {readTar} from '../../base/tar/read-tar.js';
import {encodeTarEnd, encodeTarMember, isArchivable} from '../../base/tar/write-tar.js';
import {CopyError, type FileSystemView} from './file-system-view.js';
import {openDestination, openSource, type CopyPath} from './open-copy-paths.js';
import {planCopy} from './plan-copy.js';
import {readTree, type FileIdentity, type OpenFile} from './read-tree.js';
import {TreeWriter} from './write-tree.js';

/** Source of a copy: a path, or a tar archive. */
export type CopySource = CopyPath | {readonly kind: 'archive'; readonly input: AsyncIterable<Uint8Array>};

/** Destination of a copy: a path, or a tar archive, whose chunks are valid until `write` resolves. */
export type CopyDestination =
  | CopyPath
  | {readonly kind: 'archive'; readonly write: (chunk: Buffer) => Promise<void>};

/** Options of a copy. */
export interface CopyOptions {
  /** Copies the file to which a symbolic link at the end of the source leads, rather than the link. */
  readonly followsLink: boolean;
  /** Keeps owners and modes. */
  readonly preserves: boolean;
  /** Receives files that are not copied, and why. */
  readonly onSkip: (path: string, reason: string) => void;
  readonly onWarning: (text: string) => void;
  /** Called with the number of files and of bytes that were copied since the last call. */
  readonly onProgress: (files: number, bytes: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Copies files with docker cp's rules for paths. A file appears at its destination only when its copy is complete; an
 * interrupted copy of a directory leaves the files that are complete. Rejects with SystemError, and with the signal's
 * reason.
 */
export async function copyFiles(
  source: CopySource,
  destination: CopyDestination,
  options: CopyOptions,
): Promise<void> {
  if (source.kind === 'path' && destination.kind === 'path') await copyPath(source, destination, options);
  else if (source.kind === 'path' && destination.kind === 'archive')
    await copyToArchive(source, destination.write, options);
  else if (source.kind === 'archive' && destination.kind === 'path')
    await extractArchive(source.input, destination, options);
  else throw new Error('an archive cannot be copied to an archive');
}

async function copyPath(source: CopyPath, destination: CopyPath, options: CopyOptions): Promise<void> {
  await using from = await openSource(source, options);
  if (!isWritable(from.kind)) throw cannotCopy(source, `it is a ${from.kind}`);
  await using to = await openDestination(destination);
  const plan = planCopy(from, to);
  const {dev, ino} = await to.directory.stat();
  const path = plan.directory === 'destination' ? destination.path : posix.dirname(destination.path);
  const entries = readEntries(source, from, {...options, destination: {dev, ino}});
  await writeEntries(writableEntries(entries, source, options), to.directory, {
    view: destination.view,
    path,
    name: plan.name,
    options,
  });
}

/** Reports whether a file of a kind can be created. */
function isWritable(kind: FileKind): boolean {
  return kind === 'file' || kind === 'directory' || kind === 'symbolic link' || kind === 'hard link';
}

/** Leaves out files that cannot be created, and reports them with their paths in the source. */
async function* writableEntries(
  entries: AsyncIterable<FileEntry>,
  {view, path: top}: CopyPath,
  {onSkip}: CopyOptions,
): AsyncGenerator<FileEntry, void, undefined> {
  for await (const entry of entries)
    if (isWritable(entry.kind)) yield entry;
    else onSkip(view.show(posix.join(top, entry.path)), `it is a ${entry.kind}`);
}

function cannotCopy({view, path}: CopyPath, reason: string): CopyError {
  return new CopyError(`cannot copy ${JSON.stringify(view.show(path))}: ${reason}`);
}

async function extractArchive(
  input: AsyncIterable<Uint8Array>,
  destination: CopyPath,
  options: CopyOptions,
): Promise<void> {
  await using to = await openDestination(destination);
  if (to.kind !== 'directory')
    throw new CopyError(
      `${JSON.stringify(to.shown)} ${to.kind === 'missing' ? 'does not exist' : 'is not a directory'}`,
      {hint: 'an archive can only be extracted into an existing directory'},
    );
  const place = {view: destination.view, path: destination.path, name: '', options};
  await writeEntries(readTar(input), to.directory, place);
}

async function copyToArchive(
  source: CopyPath,
  write: (chunk: Buffer) => Promise<void>,
  options: CopyOptions,
): Promise<void> {
  await using from = await openSource(source, options);
  if (!isArchivable(from.kind)) throw cannotCopy(source, `an archive cannot contain a ${from.kind}`);
  const prefix = from.isContent || from.name === undefined ? '' : from.name;
  const below = (path: string): string => [prefix, path].filter((part) => part !== '').join('/');
  for await (const entry of readEntries(source, from, options)) {
    const {path, kind, target} = entry;
    if (!isArchivable(kind)) {
      options.onSkip(source.view.show(`${source.path}/${path}`), `an archive cannot contain a ${kind}`);
      continue;
    }
    const member = {
      ...entry,
      path: below(path) || '.',
      target: kind === 'hard link' ? below(target) : target,
    };
    for await (const chunk of encodeTarMember(counted(member, options))) await write(chunk);
  }
  await write(encodeTarEnd());
}

function readEntries(
  {view, path}: CopyPath,
  file: OpenFile,
  {onSkip, signal, destination}: CopyOptions & {readonly destination?: FileIdentity},
): AsyncIterable<FileEntry> {
  return readTree(file, {view, path, onSkip, signal, destination});
}

/** Place of a copy: a path of a file system, and the name of the copy in it. */
interface CopyPlace {
  readonly view: FileSystemView;
  readonly path: string;
  readonly name: string;
  readonly options: CopyOptions;
}

async function writeEntries(
  entries: AsyncIterable<FileEntry>,
  directory: FileHandle,
  {view, path, name, options}: CopyPlace,
): Promise<void> {
  // Files of other users are not a reason to refuse the copy.
  await removeAbandonedFiles(fdPath(directory)).catch(() => undefined);
  const writer = new TreeWriter(directory, {...options, view, path, name});
  try {
    for await (const entry of entries) await writer.write(counted(entry, options));
    await writer.finish();
  } finally {
    await writer.close();
  }
}

/** Reports the progress of an entry when its content is read. */
function counted(entry: FileEntry, {onProgress}: CopyOptions): FileEntry {
  onProgress(1, 0);
  return {
    ...entry,
    content: async function* () {
      for await (const chunk of entry.content()) {
        onProgress(0, chunk.length);
        yield chunk;
      }
    },
  };
}
