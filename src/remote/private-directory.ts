import {mkdtemp} from 'node:fs/promises';
import {join} from 'node:path';
import {SystemError} from '../base/errors.js';
import {removeDirectoryAtExit} from '../base/fs/remove-at-exit.js';
import {systemErrorMessage} from '../base/system-error-message.js';

/** Characters that neither ssh's forwardings nor its settings interpret. */
const SAFE_PATH = /^\/[\w.@+,=~/-]*$/;
/** Longest directory: ssh appends a name and 17 characters to the path of a socket, which may have 107. */
const LONGEST_DIRECTORY = 70;

/** A directory of sockets that only this user can enter. */
export interface PrivateDirectory extends Disposable {
  readonly path: string;
}

/**
 * Creates a directory with the mode 0700 for the sockets of a connection. It is removed when disposed of, and when this
 * process exits or is hung up. `temporary` is the parent if ssh can use it. Rejects with SystemError.
 */
export async function createPrivateDirectory(temporary: string): Promise<PrivateDirectory> {
  const parent = SAFE_PATH.test(temporary) && temporary.length < LONGEST_DIRECTORY ? temporary : '/tmp';
  const path = await mkdtemp(join(parent, 'kcri-ssh-')).catch((cause: unknown) => {
    throw new SystemError(`cannot create a directory in "${parent}": ${systemErrorMessage(cause)}`, {
      cause,
      hint: 'set TMPDIR to a directory that you can write to',
    });
  });
  const removal = removeDirectoryAtExit(path);
  return {
    path,
    [Symbol.dispose]: () => {
      removal[Symbol.dispose]();
    },
  };
}
