import {open} from 'node:fs/promises';
import {READ_WITHOUT_BLOCKING} from '../../../base/fs/read-text-file.js';
import type {SftpClient} from '../../../remote/sftp/sftp-client.js';

/** Reads small files of a node: those of the kernel, whose sizes are not known before. */
export interface NodeFiles {
  /** Returns the first bytes of a file as text. Rejects with a system error. */
  read(path: string, maxBytes?: number): Promise<string>;
}

/** Number of bytes that are read of a file; /proc/net/tcp has 150 bytes per socket. */
const MAX_BYTES = 512 * 1024;

/** Files of this machine. */
export const LOCAL_FILES: NodeFiles = {
  read: async (path, maxBytes = MAX_BYTES) => {
    const file = await open(path, READ_WITHOUT_BLOCKING);
    try {
      return await readAll(
        maxBytes,
        async (into, at) => (await file.read(into, 0, into.length, at)).bytesRead,
      );
    } finally {
      await file.close();
    }
  },
};

/** Returns the files of a node that a client reads; `connect` is called on first use. */
export function createRemoteFiles(connect: () => Promise<SftpClient>): NodeFiles {
  return {
    read: async (path, maxBytes = MAX_BYTES) => {
      const client = await connect();
      const handle = await client.open(path);
      try {
        return await readAll(maxBytes, async (into, at) => await client.read(handle, into, at));
      } finally {
        await client.close(handle);
      }
    },
  };
}

/** Reads up to the end: files of the kernel return less than is asked for before it. */
async function readAll(
  maxBytes: number,
  read: (into: Buffer, position: number) => Promise<number>,
): Promise<string> {
  const buffer = Buffer.alloc(maxBytes);
  let size = 0;
  while (size < maxBytes) {
    const count = await read(buffer.subarray(size), size);
    if (count === 0) break;
    size += count;
  }
  return buffer.toString('utf8', 0, size);
}
