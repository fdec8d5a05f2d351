import {existsSync, readFileSync} from 'node:fs';
import {mkdir, mkdtemp} from 'node:fs/promises';
import {join} from 'node:path';
import {SystemError} from '../../base/errors.js';
import {removeTree} from '../../base/fs/remove-tree.js';
import {runHostProgram} from '../process/run-host-program.js';

/** A choice and its reason, for people. */
export interface WithReason<T> {
  readonly value: T;
  readonly reason: string;
}

const CAP_SYS_RESOURCE = 24n;

/**
 * Decides whether containerd must not lower OOM scores: without CAP_SYS_RESOURCE the kernel refuses negative scores,
 * and every sandbox would fail.
 */
export function shouldRestrictOomScoreAdj(processStatus: string): WithReason<boolean> {
  const lacking = ['CapEff', 'CapBnd'].filter((set) => !hasCapability(processStatus, set, CAP_SYS_RESOURCE));
  return lacking.length > 0
    ? {value: true, reason: `CAP_SYS_RESOURCE is not in ${lacking.join(' and ')}`}
    : {value: false, reason: 'CAP_SYS_RESOURCE is available'};
}

function hasCapability(processStatus: string, set: string, bit: bigint): boolean {
  const mask = new RegExp(`^${set}:\\s*([0-9a-f]+)$`, 'm').exec(processStatus)?.[1] ?? '0';
  return ((BigInt(`0x${mask}`) >> bit) & 1n) === 1n;
}

/** Returns /proc/self/status. */
export function readProcessStatus(): string {
  return readFileSync('/proc/self/status', 'utf8');
}

/** Reports whether systemd manages the machine and the cgroup hierarchy is v2: systemd owns the cgroups then. */
export function shouldUseSystemdCgroup(): boolean {
  return existsSync('/run/systemd/system') && existsSync('/sys/fs/cgroup/cgroup.controllers');
}

/** Chooses `overlayfs` if an overlay can be mounted below `dir`, otherwise `native`, which copies. */
export async function detectSnapshotter(dir: string, signal: AbortSignal): Promise<WithReason<string>> {
  const probe = await mkdtemp(join(dir, 'overlay-probe-'));
  const merged = join(probe, 'merged');
  const options = ['lower', 'upper', 'work'].map((name) => `${name}dir=${join(probe, name)}`).join(',');
  try {
    for (const name of ['lower', 'upper', 'work', 'merged']) await mkdir(join(probe, name));
    await runHostProgram('mount', ['-t', 'overlay', '-o', options, 'overlay', merged], {signal});
    await runHostProgram('umount', [merged]);
    return {value: 'overlayfs', reason: 'overlays can be mounted'};
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    return {value: 'native', reason: `cannot mount overlays: ${error.message}`};
  } finally {
    // Never removes through an overlay that could not be unmounted.
    await removeTree(probe);
  }
}

/** Checks whether the CNI plugins can create their iptables rules. */
export async function detectIptables(signal: AbortSignal): Promise<WithReason<boolean>> {
  try {
    await runHostProgram('iptables', ['-w', '-t', 'nat', '-S'], {signal});
    return {value: true, reason: 'iptables works'};
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    return {value: false, reason: error.message};
  }
}
