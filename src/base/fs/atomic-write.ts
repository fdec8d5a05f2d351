import {randomBytes} from 'node:crypto';
import {chown, readdir, realpath, rename, stat, unlink} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {hasErrno, KcriError} from '../errors.js';
import {isProcessAlive, ownProcessIdentity, PROCESS_IDENTITY} from '../process-identity.js';
import {ensureMode, syncDescriptor, withDescriptor, writeAll} from './descriptors.js';
import {ifPresent, withFileErrors} from './files.js';

/** Owner of a file. */
export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Replaces the file's content atomically and durably: readers see the old or the new content, even after a crash. The
 * file gets exactly this mode regardless of the umask, and this owner if one is given. A failure leaves nothing behind;
 * what a killed process leaves is removed by the next process that writes a file in the directory. Rejects with
 * SystemError.
 */
export async function writeFileAtomic(
  path: string,
  content: string,
  mode: number,
  owner?: FileOwner,
): Promise<void> {
  await withFileErrors('writing', path, async () => {
    await exchange(path, async (temporary) => {
      await writeNewFile(temporary, content, {mode, isDurable: true});
      if (owner !== undefined) await chown(temporary, owner.uid, owner.gid);
    });
    await syncDirectory(dirname(path));
  });
}

/**
 * Replaces the file's content like writeFileAtomic, but without fsync: after a power failure the file may be empty or
 * old. For state that a reboot invalidates or that is written again. Rejects with the system error.
 */
export async function writeFileAtomicWithoutSync(path: string, content: string, mode: number): Promise<void> {
  await exchange(path, async (temporary) => writeNewFile(temporary, content, {mode, isDurable: false}));
}

/**
 * Replaces the file's content like writeFileAtomic, but syncs only the file: after a power failure it has the old or the new
 * content. Rejects with the system error.
 */
export async function writeFileAtomicWithFileSync(
  path: string,
  content: string,
  mode: number,
): Promise<void> {
  await exchange(path, async (temporary) => writeNewFile(temporary, content, {mode, isDurable: true}));
}

/**
 * Replaces the file's content by chunks, atomically and durably like writeFileAtomic. A file that is not a regular one,
 * such as a pipe or /dev/null, is written to. Rejects with SystemError, and with the error of the chunks.
 */
export async function writeChunksAtomic(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  mode: number,
): Promise<void> {
  let failure: unknown;
  const writeTo = async (name: string, flags: string): Promise<void> => {
    await withDescriptor(name, flags, mode, async (file) => {
      try {
        for await (const chunk of chunks) await writeAll(file, chunk);
      } catch (error) {
        failure = error;
        throw error;
      }
      if (flags === 'wx') await syncDescriptor(file);
    });
  };
  try {
    await withFileErrors('writing', path, async () => {
      const existing = await ifPresent(() => stat(path));
      if (existing !== undefined && !existing.isFile()) {
        await writeTo(path, 'w');
        return;
      }
      // A link keeps leading to the file.
      const target = existing === undefined ? path : await realpath(path);
      await exchange(target, (temporary) => writeTo(temporary, 'wx'));
      await syncDirectory(dirname(target));
    });
  } catch (error) {
    throw failure instanceof KcriError ? failure : error;
  }
}

/**
 * Replaces the content of a file that a user has named, atomically and durably like writeFileAtomic. A link keeps leading to the file,
 * and what is not a regular file, such as a pipe or /dev/null, is written to. Rejects with SystemError.
 */
export async function writeUserFile(path: string, content: string, mode: number): Promise<void> {
  const [existing, target] = await withFileErrors('writing', path, async () => [
    await ifPresent(() => stat(path)),
    await ifPresent(() => realpath(path)),
  ]);
  if (existing === undefined || existing.isFile()) await writeFileAtomic(target ?? path, content, mode);
  else
    await withFileErrors('writing', path, () =>
      withDescriptor(path, 'w', mode, (file) => writeAll(file, Buffer.from(content))),
    );
}

/**
 * Removes a file that is written atomically, if it exists. First removes the temporary files that killed processes left
 * in its directory. Rejects with SystemError.
 */
export async function removeAtomicFile(path: string): Promise<void> {
  await removeAbandonedFiles(dirname(path));
  await withFileErrors('removing', path, () => ifPresent(() => unlink(path)));
  // The directory may be removed next.
  cleaned.delete(dirname(path));
}

/** Name of a temporary file, `.kcri-<writer>.<random>.tmp`: the identity of its writer shows whether it is in use. */
const TEMPORARY = new RegExp(`^\\.kcri-(?<writer>${PROCESS_IDENTITY.source})\\.[0-9a-f]+\\.tmp$`);

/**
 * Removes the temporary files that killed processes left in the directory, if it exists. Rejects with SystemError.
 */
export async function removeAbandonedFiles(directory: string): Promise<void> {
  const names = await withFileErrors('reading', directory, () => ifPresent(() => readdir(directory)));
  for (const name of names ?? []) {
    const writer = TEMPORARY.exec(name)?.groups?.['writer'];
    if (writer === undefined || (await isProcessAlive(writer))) continue;
    const path = join(directory, name);
    await withFileErrors('removing', path, () => ifPresent(() => unlink(path)));
  }
}

/**
 * Removes the temporary files that killed processes left in the directory and its direct subdirectories. Rejects with
 * SystemError.
 */
export async function removeAbandonedFilesBelow(root: string): Promise<void> {
  const entries = await withFileErrors('reading', root, () =>
    ifPresent(() => readdir(root, {withFileTypes: true})),
  );
  const subdirectories = (entries ?? []).filter((entry) => entry.isDirectory()).map(({name}) => name);
  for (const name of ['', ...subdirectories]) await removeAbandonedFiles(join(root, name));
}

/** Part of the names of this process' temporary files, because processes in containers can have the same identity. */
const RANDOM = randomBytes(6).toString('hex');
let namesCreated = 0;

/** Returns a new name for a temporary file, by which removeAbandonedFiles finds the file if this process is killed. */
export async function createTemporaryName(): Promise<string> {
  const count = (namesCreated += 1).toString(16).padStart(4, '0');
  return `.kcri-${await ownProcessIdentity()}.${RANDOM}${count}.tmp`;
}

/** Writes a temporary file next to `path` and renames it; removes it on failure. */
async function exchange(path: string, write: (temporary: string) => Promise<void>): Promise<void> {
  const directory = dirname(path);
  await cleanOnce(directory);
  const temporary = join(directory, await createTemporaryName());
  try {
    await write(temporary);
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

/** Directories that this process has cleaned, in the order of their first write. */
const cleaned = new Set<string>();
/** Number of directories that are remembered: those of pods are removed as trees, without a call for each file. */
const MAX_CLEANED = 500;

/** Removes abandoned files before the first write of this process in a directory. */
async function cleanOnce(directory: string): Promise<void> {
  if (cleaned.has(directory)) return;
  const [oldest] = cleaned;
  if (cleaned.size === MAX_CLEANED && oldest !== undefined) cleaned.delete(oldest);
  cleaned.add(directory);
  // A directory of the user may contain files of another user; they are not a reason to refuse the write.
  await removeAbandonedFiles(directory).catch(() => undefined);
}

/**
 * Creates a file with exactly this mode regardless of the umask, and fsyncs it if it is durable. Rejects with the system error, EEXIST
 * if something is at the path.
 */
export async function writeNewFile(
  path: string,
  content: string,
  {mode, isDurable}: {readonly mode: number; readonly isDurable: boolean},
): Promise<void> {
  await withDescriptor(path, 'wx', mode, async (file) => {
    await ensureMode(file, mode);
    await writeAll(file, Buffer.from(content));
    if (isDurable) await syncDescriptor(file);
  });
}

/**
 * Creates a file with exactly this mode regardless of the umask, without fsync, or nothing if it fails. A killed process may leave a
 * part of it. Rejects with the system error, EEXIST if something is at the path.
 */
export async function createFile(path: string, content: string, mode: number): Promise<void> {
  try {
    await writeNewFile(path, content, {mode, isDurable: false});
  } catch (error) {
    if (!hasErrno(error, 'EEXIST')) await unlink(path).catch(() => undefined);
    throw error;
  }
}

/** Syncs a directory: a rename is durable only after that. Rejects with the system error. */
export async function syncDirectory(path: string): Promise<void> {
  await withDescriptor(path, 'r', 0, syncDescriptor);
}
