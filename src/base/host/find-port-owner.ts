import {findFileUsers, textOf, type FileUser} from './open-files.js';

/** Socket of this network namespace that listens. */
export interface ListeningSocket {
  readonly port: number;
  readonly inode: string;
}

/** State of a socket in /proc/net/tcp that listens. */
const LISTEN = '0A';
/** Position of the inode in a line of /proc/net/tcp. */
const INODE = 9;

/** Returns the listening sockets in texts of `/proc/net/tcp` and `tcp6`, in order. Pure. */
export function parseListeningSockets(...texts: readonly string[]): readonly ListeningSocket[] {
  return texts
    .flatMap((text) => text.split('\n'))
    .flatMap((line) => {
      const fields = line.trim().split(/\s+/);
      const [, local = '', , state] = fields;
      const port = Number.parseInt(local.split(':').at(-1) ?? '', 16);
      return state === LISTEN && Number.isInteger(port) ? [{port, inode: fields[INODE] ?? ''}] : [];
    });
}

/**
 * Resolves with a process that listens on the TCP port; undefined without one, and for one that this user may not read or that is
 * in another PID namespace. It reads the descriptors of all processes. Rejects with the signal's reason.
 */
export async function findPortOwner(port: number, signal?: AbortSignal): Promise<FileUser | undefined> {
  const texts = await Promise.all(['tcp', 'tcp6'].map(async (file) => await textOf(`/proc/net/${file}`)));
  const sockets = parseListeningSockets(...texts).filter((socket) => socket.port === port);
  const targets: ReadonlySet<string> = new Set(sockets.map(({inode}) => `socket:[${inode}]`));
  if (targets.size === 0) return undefined;
  const [owner] = await findFileUsers((target) => targets.has(target), {count: 1, signal});
  return owner;
}
