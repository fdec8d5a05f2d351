import {readdir, readFile, readlink} from 'node:fs/promises';
import {rethrowUnexpected} from '../errors.js';

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

/** A process that listens on a port. */
export interface PortOwner {
  readonly pid: number;
  /** Name of the program, which it may have chosen itself. */
  readonly name: string;
}

/**
 * Resolves with a process that listens on the TCP port; undefined without one, and for one that this user may not read or that is
 * in another PID namespace. For error messages: it reads the descriptors of all processes.
 */
export async function findPortOwner(port: number): Promise<PortOwner | undefined> {
  const texts = await Promise.all(['tcp', 'tcp6'].map(async (file) => await read(`/proc/net/${file}`)));
  const sockets = parseListeningSockets(...texts).filter((socket) => socket.port === port);
  const targets: ReadonlySet<string> = new Set(sockets.map(({inode}) => `socket:[${inode}]`));
  if (targets.size === 0) return undefined;
  for (const pid of (await names('/proc')).filter((name) => /^\d+$/.test(name)))
    for (const descriptor of await names(`/proc/${pid}/fd`)) {
      const target = await orUndefined(() => readlink(`/proc/${pid}/fd/${descriptor}`));
      if (target !== undefined && targets.has(target))
        return {pid: Number(pid), name: (await read(`/proc/${pid}/comm`)).trim()};
    }
  return undefined;
}

async function read(path: string): Promise<string> {
  return (await orUndefined(() => readFile(path, 'utf8'))) ?? '';
}

async function names(directory: string): Promise<readonly string[]> {
  return (await orUndefined(() => readdir(directory))) ?? [];
}

/** Resolves with undefined if the system reports an error, such as for a process that has ended. */
async function orUndefined<T>(get: () => Promise<T>): Promise<T | undefined> {
  try {
    return await get();
  } catch (error) {
    rethrowUnexpected(error);
    return undefined;
  }
}
