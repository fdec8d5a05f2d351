import {readdirSync} from 'node:fs';
import type {Clock} from '../../base/clock.js';
import {hasErrno, SystemError} from '../../base/errors.js';
import {
  identityOf,
  isRunning,
  parseProcessStat,
  tryReadFile,
  type ProcessIdentity,
} from './running-process.js';

/** A process and its command line. */
export interface RunningProcess {
  readonly identity: ProcessIdentity;
  readonly parentPid: number;
  readonly argv: readonly string[];
  /** Content of /proc/PID/cgroup: one line per hierarchy. */
  readonly cgroups: string;
}

/** Returns all visible processes of the machine except kcri itself. */
export function listProcesses(): RunningProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      const identity = identityOf(Number(name));
      if (identity === undefined) return [];
      const {parentPid} = parseProcessStat(tryReadFile(`/proc/${name}/stat`) ?? '');
      return [{identity, parentPid, argv: argvOf(name), cgroups: tryReadFile(`/proc/${name}/cgroup`) ?? ''}];
    });
}

/** Reports whether this is the containerd that was started with the configuration file. */
export function isContainerdWithConfig(configFile: string, {argv}: RunningProcess): boolean {
  return argv.some((argument, index) => argument === '--config' && argv[index + 1] === configFile);
}

/** Reports whether this is a shim of the containerd at `socket`. */
export function isShimOf(socket: string, {argv}: RunningProcess): boolean {
  const program = argv[0] ?? '';
  const address = argv.indexOf('-address');
  return /(^|\/)containerd-shim[^/]*$/.test(program) && address > 0 && argv[address + 1] === socket;
}

/** Returns the descendants of `roots` among `all`. */
export function descendantsOf(
  roots: readonly RunningProcess[],
  all: readonly RunningProcess[],
): RunningProcess[] {
  const children = all.filter(({parentPid}) => roots.some(({identity}) => identity.pid === parentPid));
  return children.length === 0 ? [] : [...children, ...descendantsOf(children, all)];
}

/** Sends the signal if exactly this process still runs. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isRunning(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch (error) {
    if (!hasErrno(error, 'ESRCH')) throw error;
  }
}

/** Waits until all processes have ended; returns false if one still runs after `timeoutMs`. */
export async function waitForExit(
  identities: readonly ProcessIdentity[],
  {timeoutMs, clock}: {timeoutMs: number; clock: Clock},
): Promise<boolean> {
  const deadline = clock.monotonic() + timeoutMs;
  while (identities.some(isRunning)) {
    if (clock.monotonic() >= deadline) return false;
    await clock.sleep(20);
  }
  return true;
}

/** Terminates the processes: SIGTERM, then SIGKILL after `graceMs`. Rejects with SystemError if one survives. */
export async function terminateProcesses(
  identities: readonly ProcessIdentity[],
  {graceMs, clock}: {graceMs: number; clock: Clock},
): Promise<void> {
  if (graceMs > 0) {
    for (const identity of identities) signalProcess(identity, 'SIGTERM');
    if (await waitForExit(identities, {timeoutMs: graceMs, clock})) return;
  }
  for (const identity of identities) signalProcess(identity, 'SIGKILL');
  if (await waitForExit(identities, {timeoutMs: 10_000, clock})) return;
  const left = identities.filter(isRunning).map(({pid}) => pid);
  throw new SystemError(`cannot terminate the processes ${left.join(', ')}`, {
    hint: 'they are blocked in the kernel: see /proc/PID/stack, then run "kcri runtime down" again',
  });
}

function argvOf(pid: string): readonly string[] {
  return (tryReadFile(`/proc/${pid}/cmdline`) ?? '').split('\0').slice(0, -1);
}
