import {readFileSync} from 'node:fs';
import {bootId} from '../../base/boot-id.js';

/** Identity of a process, distinct from later processes with the same PID. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time, in clock ticks since boot. */
  readonly startTime: string;
  /** ID of the boot that the ticks count from. */
  readonly bootId: string;
}

/** Returns the identity of a running process; undefined if there is none or it is a zombie. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const stat = tryReadFile(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  const {state, startTime} = parseProcessStat(stat);
  return state === 'Z' || state === 'X' ? undefined : {pid, startTime, bootId: bootId()};
}

/** Reports whether exactly this process runs; a recycled PID or another boot does not count. */
export function isRunning(identity: ProcessIdentity): boolean {
  const now = identityOf(identity.pid);
  return now?.startTime === identity.startTime && now.bootId === identity.bootId;
}

/** Parses /proc/PID/stat (proc(5)); the program name in it may contain spaces and parentheses. */
export function parseProcessStat(stat: string): {state: string; parentPid: number; startTime: string} {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {state: fields[0] ?? '', parentPid: Number(fields[1]), startTime: fields[19] ?? ''};
}

/** Returns the content of a file of /proc or /sys; undefined if its subject no longer exists. */
export function tryReadFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
