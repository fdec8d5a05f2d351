import {readFileSync} from 'node:fs';
import {bootId} from '../base/boot-id.js';

/** One process, told apart from a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the kernel's clock ticks since boot. */
  readonly startTime: string;
  /** The boot that the ticks count from. */
  readonly bootId: string;
}

/** The identity of a running process; undefined when there is none, or it has ended and waits to be reaped. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  const {state, startTime} = parseStat(stat);
  return state === 'Z' || state === 'X' ? undefined : {pid, startTime, bootId: bootId()};
}

/** True while exactly this process runs: a recycled number or another boot is not it. */
export function isRunning(identity: ProcessIdentity): boolean {
  const now = identityOf(identity.pid);
  return now?.startTime === identity.startTime && now.bootId === identity.bootId;
}

/** What counts in /proc/PID/stat (proc(5)); the program's name before it may hold spaces and brackets. */
export function parseStat(stat: string): {state: string; parentPid: number; startTime: string} {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {state: fields[0] ?? '', parentPid: Number(fields[1]), startTime: fields[19] ?? ''};
}

/** A file of /proc or /sys; undefined when what it tells of has gone. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
