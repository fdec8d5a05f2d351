import {readdir, readFile, readlink} from 'node:fs/promises';
import {hasErrno, isSystemCallError} from '../../../../base/errors.js';

/** Open files of the processes of a container (cAdvisor ProcessStats). */
export interface ProcessUsage {
  readonly fileDescriptors: bigint;
  readonly sockets: bigint;
  /** Soft limit of the first process on its open files; -1 for no limit, and undefined if there is no process. */
  readonly maxOpenFiles: bigint | undefined;
}

/** Number of open files that one scrape examines. */
export class OpenFileBudget {
  #left: number;

  constructor(limit = 20_000) {
    this.#left = limit;
  }

  /** Takes `count` files; returns false if fewer are left. */
  take(count: number): boolean {
    if (count > this.#left) return false;
    this.#left -= count;
    return true;
  }
}

/** Number of links that are read at once. */
const LINKS_AT_ONCE = 64;

/**
 * Reads the open files of processes (processStatsFromProcs); undefined if one of them may not be examined, or if they
 * exceed the budget. A process that has ended counts as nothing. Rejects with errors that are not the system's.
 */
export async function readProcessUsage(
  pids: readonly string[],
  budget: OpenFileBudget,
): Promise<ProcessUsage | undefined> {
  // A process outside of the PID namespace has the PID 0.
  const visible = pids.filter((pid) => pid !== '0');
  let [fileDescriptors, sockets] = [0, 0];
  for (const pid of visible) {
    const directory = `/proc/${pid}/fd`;
    const files = await whileAlive(() => readdir(directory), []);
    if (files === undefined || !budget.take(files.length)) return undefined;
    fileDescriptors += files.length;
    sockets += await countSockets(directory, files);
  }
  const [first] = visible;
  const limits =
    first === undefined ? '' : await whileAlive(() => readFile(`/proc/${first}/limits`, 'utf8'), '');
  return {
    fileDescriptors: BigInt(fileDescriptors),
    sockets: BigInt(sockets),
    maxOpenFiles: parseMaxOpenFiles(limits ?? ''),
  };
}

async function countSockets(directory: string, files: readonly string[]): Promise<number> {
  let sockets = 0;
  for (let start = 0; start < files.length; start += LINKS_AT_ONCE) {
    const some = files.slice(start, start + LINKS_AT_ONCE);
    const links = await Promise.all(
      some.map((file) => whileAlive(() => readlink(`${directory}/${file}`), '')),
    );
    sockets += links.filter((link) => link?.startsWith('socket:') === true).length;
  }
  return sockets;
}

/** Resolves with `absent` if the process or file has ended meanwhile, and with undefined if it may not be read. */
async function whileAlive<T>(read: () => Promise<T>, absent: T): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
    return hasErrno(error, 'ENOENT', 'ESRCH') ? absent : undefined;
  }
}

/** Returns the soft limit of a /proc/<pid>/limits; -1 for no limit. */
function parseMaxOpenFiles(limits: string): bigint | undefined {
  const soft = /^Max open files +(\d+|unlimited)/m.exec(limits)?.[1];
  if (soft === undefined) return undefined;
  return soft === 'unlimited' ? -1n : BigInt(soft);
}
