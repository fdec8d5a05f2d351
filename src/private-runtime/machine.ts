import {existsSync, readFileSync} from 'node:fs';
import {mkdir, mkdtemp} from 'node:fs/promises';
import {join} from 'node:path';
import {SystemError} from '../base/errors.js';
import {removeTree} from '../base/remove-tree.js';
import {runProgram} from './run-program.js';

/** A choice and why it was made, for people. */
export interface Reasoned<T> {
  readonly value: T;
  readonly reason: string;
}

const CAP_SYS_RESOURCE = 24n;

/**
 * Whether containerd must be kept from lowering OOM scores: without CAP_SYS_RESOURCE the kernel refuses
 * negative ones, and every sandbox would fail.
 */
export function restrictOomScoreAdj(processStatus: string): Reasoned<boolean> {
  const lacking = ['CapEff', 'CapBnd'].filter((set) => !hasCapability(processStatus, set, CAP_SYS_RESOURCE));
  return lacking.length > 0
    ? {value: true, reason: `CAP_SYS_RESOURCE is not in ${lacking.join(' and ')}`}
    : {value: false, reason: 'CAP_SYS_RESOURCE is there'};
}

function hasCapability(processStatus: string, set: string, bit: bigint): boolean {
  const mask = new RegExp(`^${set}:\\s*([0-9a-f]+)$`, 'm').exec(processStatus)?.[1] ?? '0';
  return ((BigInt(`0x${mask}`) >> bit) & 1n) === 1n;
}

/** The kernel's facts about this process: /proc/self/status. */
export function ownStatus(): string {
  return readFileSync('/proc/self/status', 'utf8');
}

/** True where systemd runs the machine and the cgroup hierarchy is v2: then systemd owns the cgroups. */
export function systemdOwnsCgroups(): boolean {
  return existsSync('/run/systemd/system') && existsSync('/sys/fs/cgroup/cgroup.controllers');
}

/** `overlayfs` where an overlay can be mounted below `dir`, else `native`, which copies. */
export async function usableSnapshotter(dir: string, signal: AbortSignal): Promise<Reasoned<string>> {
  const probe = await mkdtemp(join(dir, 'overlay-probe-'));
  const merged = join(probe, 'merged');
  const options = ['lower', 'upper', 'work'].map((name) => `${name}dir=${join(probe, name)}`).join(',');
  try {
    for (const name of ['lower', 'upper', 'work', 'merged']) await mkdir(join(probe, name));
    await runProgram('mount', ['-t', 'overlay', '-o', options, 'overlay', merged], {signal});
    await runProgram('umount', [merged]);
    return {value: 'overlayfs', reason: 'overlays can be mounted here'};
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    return {value: 'native', reason: `overlays can't be mounted here: ${error.message}`};
  } finally {
    // Refuses to go through an overlay that could not be unmounted.
    await removeTree(probe);
  }
}

/** Whether the CNI plugins can make their iptables rules. */
export async function usableIptables(signal: AbortSignal): Promise<Reasoned<boolean>> {
  try {
    await runProgram('iptables', ['-w', '-t', 'nat', '-S'], {signal});
    return {value: true, reason: 'iptables works'};
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    return {value: false, reason: error.message};
  }
}
