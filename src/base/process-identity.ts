import {readFile} from 'node:fs/promises';
import {bootId} from './boot-id.js';
import {hasErrno, SystemError} from './errors.js';
import {systemErrorMessage} from './system-error-message.js';

/** Pattern of an identity, `pid@start time@boot`, which is unique to a process. */
export const PROCESS_IDENTITY = /(\d+)@\d+@[0-9a-f-]+/;

let known: string | undefined;

/** Returns the identity of this process. Rejects with SystemError if /proc is not mounted. */
export async function ownProcessIdentity(): Promise<string> {
  known ??= await identifyProcess(process.pid);
  if (known === undefined) throw new SystemError('reading "/proc/self/stat": /proc is not mounted');
  return known;
}

/** Reports whether exactly this process runs; a recycled PID or another boot does not count. Rejects with SystemError. */
export async function isProcessAlive(identity: string): Promise<boolean> {
  return (await identifyProcess(pidOf(identity))) === identity;
}

/** Returns the PID of an identity. */
export function pidOf(identity: string): number {
  return Number(PROCESS_IDENTITY.exec(identity)?.[1]);
}

/** Returns the identity of a process; undefined if the process does not exist or has ended. Rejects with SystemError. */
export async function identifyProcess(pid: number): Promise<string | undefined> {
  const stat = await readProcess(`/proc/${pid}/stat`);
  // The second field is the program's name, which may contain anything; the start time is the 22nd.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTime] = [fields?.[0], fields?.[19]];
  if (state === undefined || startTime === undefined || ENDED_STATES.has(state)) return undefined;
  return `${pid}@${startTime}@${bootId()}`;
}

/** States of a process that has ended and was not reaped yet. */
const ENDED_STATES: ReadonlySet<string> = new Set(['Z', 'X', 'x']);

async function readProcess(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (hasErrno(cause, 'ENOENT', 'ESRCH')) return undefined;
    throw new SystemError(`reading ${JSON.stringify(path)}: ${systemErrorMessage(cause)}`, {cause});
  }
}
