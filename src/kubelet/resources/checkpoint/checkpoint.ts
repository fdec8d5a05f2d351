import {readFile} from 'node:fs/promises';
import {fnv32} from '../../../api/container-hash.js';
import {SystemError} from '../../../base/errors.js';
import {writeFileAtomic} from '../../../base/fs/atomic-write.js';
import {ifPresent, withFileErrors} from '../../../base/fs/files.js';
import {goPointer, goInteger, type GoType} from './go-type.js';

/** Type of a checkpoint's checksum. */
export const goChecksum = goInteger('checksum.Checksum');

/** Returns the checksum of a value: the hash of what go-spew prints of it (checksum.New). */
export function checksumOf<T>(type: GoType<T>, value: T): number {
  return fnv32(type.dumpTyped(value));
}

/** A structure with a checksum of itself, in which the checksum is 0. */
export interface Checksummed {
  readonly checksum: number;
}

/** Returns the text of a checkpoint that has its checksum inside (MarshalCheckpoint). */
export function formatCheckpoint<T extends Checksummed>(
  type: GoType<T>,
  content: Omit<T, 'checksum'>,
): string {
  return type.toJson({...content, checksum: ownChecksum(type, content)} as T);
}

/** Reports whether the checksum inside a checkpoint is right (VerifyChecksum). */
export function hasRightChecksum<T extends Checksummed>(type: GoType<T>, content: T): boolean {
  return content.checksum === ownChecksum(type, content);
}

function ownChecksum<T extends Checksummed>(type: GoType<T>, content: Omit<T, 'checksum'>): number {
  return checksumOf(goPointer(type), {...content, checksum: 0} as T);
}

/** Error of a checkpoint with a wrong checksum (CorruptCheckpointError). */
export function corruptCheckpoint(): SystemError {
  return new SystemError('checkpoint is corrupted');
}

/** Reads the text of a checkpoint; undefined if the file does not exist. Rejects with SystemError. */
export async function readCheckpointFile(path: string): Promise<string | undefined> {
  return withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8')));
}

/**
 * Replaces the text of a checkpoint, atomically and durably: after a power failure a kubelet must not find a torn file, with
 * which it does not start. Rejects with SystemError.
 */
export async function writeCheckpointFile(path: string, text: string): Promise<void> {
  await writeFileAtomic(path, text, 0o600);
}
