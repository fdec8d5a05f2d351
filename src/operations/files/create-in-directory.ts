import type {FileHandle} from 'node:fs/promises';
import {hasErrno} from '../../base/errors.js';

/**
 * Runs one system call that creates a name in an open directory. On a mount that maps owners, such as a volume of a pod
 * with its own user namespace, root of this machine does not exist and cannot create anything; the call is then repeated
 * as the owner of the directory. Rejects with the system error.
 */
export async function createInDirectory<T>(directory: FileHandle, create: () => Promise<T>): Promise<T> {
  try {
    return await create();
  } catch (error) {
    if (!hasErrno(error, 'EOVERFLOW') || process.geteuid?.() !== 0) throw error;
  }
  const {uid, gid} = await directory.stat();
  const ownGid = process.getegid?.() ?? 0;
  // The IDs are those of all threads of the process, so nothing else may run here.
  process.setegid?.(gid);
  process.seteuid?.(uid);
  try {
    return await create();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(ownGid);
  }
}
