import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {forEachLimit} from '../../base/async/for-each-limit.js';
import {isSystemCallError} from '../../base/errors.js';

/** Number of processes read at once. */
const AT_ONCE = 32;
/** Length of a tick of CPU time in ms (USER_HZ is 100 on all platforms of Linux). */
const TICK_MS = 10;

/** A process of this machine. */
export interface ProcessFacts {
  readonly pid: number;
  readonly parentPid: number;
  readonly uid: number;
  /** Command line; the name in brackets if it has none. */
  readonly command: string;
  /** CPU time used so far, in ms. */
  readonly cpuMs: number;
  /** Resident memory, in bytes. */
  readonly memoryBytes: number;
  /** Paths of its cgroups. */
  readonly cgroups: readonly string[];
}

/** Returns the processes below `proc`. Processes that end in the meantime are omitted. Rejects with a system error. */
export async function readProcesses(proc = '/proc'): Promise<readonly ProcessFacts[]> {
  const pids = (await readdir(proc)).filter((name) => /^\d+$/.test(name)).map(Number);
  const found: ProcessFacts[] = [];
  await forEachLimit(pids, AT_ONCE, async (pid) => {
    const facts = await readProcess(join(proc, String(pid)), pid);
    if (facts !== undefined) found.push(facts);
  });
  return found.toSorted((a, b) => a.pid - b.pid);
}

async function readProcess(directory: string, pid: number): Promise<ProcessFacts | undefined> {
  const read = async (name: string): Promise<string> => await readFile(join(directory, name), 'utf8');
  try {
    const [stat, status, cgroup, commandLine] = await Promise.all(
      ['stat', 'status', 'cgroup', 'cmdline'].map(read),
    );
    return parseProcess({
      pid,
      stat: stat ?? '',
      status: status ?? '',
      cgroup: cgroup ?? '',
      commandLine: commandLine ?? '',
    });
  } catch (error) {
    // The process has ended, or another user may not see it.
    if (isSystemCallError(error)) return undefined;
    throw error;
  }
}

interface ProcessFiles {
  readonly pid: number;
  readonly stat: string;
  readonly status: string;
  readonly cgroup: string;
  readonly commandLine: string;
}

/** Parses the files of a process; its name may contain any characters. */
function parseProcess({pid, stat, status, cgroup, commandLine}: ProcessFiles): ProcessFacts {
  const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
  // Fields from the third on, see proc_pid_stat(5).
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [, parentPid = 0] = fields;
  const [userTicks = 0, systemTicks = 0] = fields.slice(11, 13);
  const words = commandLine.replace(/\0+$/, '').split('\0');
  return {
    pid,
    parentPid,
    uid: Number(/^Uid:\s+(\d+)/m.exec(status)?.[1] ?? 0),
    command: commandLine === '' ? `[${name}]` : words.join(' '),
    cpuMs: (userTicks + systemTicks) * TICK_MS,
    memoryBytes: Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024,
    cgroups: cgroup.split('\n').flatMap((line) => /^\d+:[^:]*:(.+)$/.exec(line)?.[1] ?? []),
  };
}

/**
 * Returns the processes in the cgroup of a container, given its ID, which runtimes make the name of the cgroup: `ID`, or
 * `PREFIX-ID.scope` with systemd.
 */
export function processesOf(processes: readonly ProcessFacts[], id: string): readonly ProcessFacts[] {
  return processes.filter(({cgroups}) =>
    cgroups.some((path) => path.split('/').some((part) => part === id || part.endsWith(`-${id}.scope`))),
  );
}
