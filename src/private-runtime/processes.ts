import {readdirSync} from 'node:fs';
import type {Clock} from '../base/clock.js';
import {hasErrno, SystemError} from '../base/errors.js';
import {identityOf, isRunning, parseStat, readIfThere, type ProcessIdentity} from './process-identity.js';

/** A process and how it was started. */
export interface RunningProcess {
  readonly identity: ProcessIdentity;
  readonly parentPid: number;
  readonly argv: readonly string[];
  /** /proc/PID/cgroup: one line a hierarchy. */
  readonly cgroups: string;
}

/** Every process of the machine that kcri can see, but kcri itself. */
export function listProcesses(): RunningProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      const identity = identityOf(Number(name));
      if (identity === undefined) return [];
      const {parentPid} = parseStat(readIfThere(`/proc/${name}/stat`) ?? '');
      return [{identity, parentPid, argv: argvOf(name), cgroups: readIfThere(`/proc/${name}/cgroup`) ?? ''}];
    });
}

/** True for the containerd that was started with this configuration file. */
export function isContainerdWith(configFile: string, {argv}: RunningProcess): boolean {
  return argv.some((argument, index) => argument === '--config' && argv[index + 1] === configFile);
}

/** True for a shim that serves the containerd at `socket`. */
export function isShimOf(socket: string, {argv}: RunningProcess): boolean {
  const program = argv[0] ?? '';
  const address = argv.indexOf('-address');
  return /(^|\/)containerd-shim[^/]*$/.test(program) && address > 0 && argv[address + 1] === socket;
}

/** Those of `all` that `roots` started, and what these started, and so on. */
export function descendantsOf(
  roots: readonly RunningProcess[],
  all: readonly RunningProcess[],
): RunningProcess[] {
  const children = all.filter(({parentPid}) => roots.some(({identity}) => identity.pid === parentPid));
  return children.length === 0 ? [] : [...children, ...descendantsOf(children, all)];
}

/** Sends the signal, unless exactly this process has ended. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isRunning(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch (error) {
    if (!hasErrno(error, 'ESRCH')) throw error;
  }
}

/** Waits until none of the processes runs; false when one still does after `timeoutMs`. */
export async function waitForExit(
  identities: readonly ProcessIdentity[],
  {timeoutMs, clock}: {timeoutMs: number; clock: Clock},
): Promise<boolean> {
  const deadline = clock.now() + timeoutMs;
  while (identities.some(isRunning)) {
    if (clock.now() >= deadline) return false;
    await clock.sleep(20);
  }
  return true;
}

/** Ends the processes: SIGTERM with `graceMs` to react, then SIGKILL. Throws SystemError when one survives that. */
export async function endProcesses(
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
  throw new SystemError(`the processes ${left.join(', ')} can't be ended`, {
    hint: 'they hang in the kernel: look at /proc/PID/stack, then run "kcri runtime down" again',
  });
}

function argvOf(pid: string): readonly string[] {
  return (readIfThere(`/proc/${pid}/cmdline`) ?? '').split('\0').slice(0, -1);
}
