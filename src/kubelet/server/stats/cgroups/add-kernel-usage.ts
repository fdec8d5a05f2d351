import {nextIteration} from '../../../../base/async/next-iteration.js';
import type {ServerOptions} from '../../http-server-options.js';
import type {MeasuredCgroup} from '../measured-cgroups.js';
import {cgroupStats} from './cgroup-stats.js';
import {readPacketUsage} from './packet-usage.js';
import {OpenFileBudget, readProcessUsage} from './process-usage.js';
import {readCgroupUsage} from './read-cgroup-usage.js';

/** Options of {@link addKernelUsage}. */
export interface KernelUsageOptions extends Pick<ServerOptions, 'node'> {
  readonly nowMs: number;
}

/**
 * Adds the usage that the cgroups themselves report; a cgroup that does not exist remains as it is. What the runtime has
 * reported takes precedence. Rejects with SystemError.
 */
export async function addKernelUsage(
  cgroups: readonly MeasuredCgroup[],
  {node: {cgroup, cgroupMount: mount}, nowMs}: KernelUsageOptions,
): Promise<readonly MeasuredCgroup[]> {
  if (mount === undefined) return cgroups;
  const root = {mount, version: cgroup.version};
  const added: MeasuredCgroup[] = [];
  const budget = new OpenFileBudget();
  for (const measured of cgroups) {
    const kernel = readCgroupUsage(root, measured.labels.id, nowMs);
    // Other requests are processed in between.
    await nextIteration();
    // The processes of the node shall not leave containers without a budget.
    const files = measured.labels.name === '' ? new OpenFileBudget() : budget;
    added.push(kernel === undefined ? measured : await withUsage(measured, kernel, files));
  }
  return added;
}

async function withUsage(
  measured: MeasuredCgroup,
  kernel: NonNullable<MeasuredCgroup['kernel']>,
  budget: OpenFileBudget,
): Promise<MeasuredCgroup> {
  const {labels, network, startedAtNanos = kernel.createdAtNanos} = measured;
  const stats = cgroupStats(kernel);
  const pid = labels.id === '/' ? 'self' : kernel.pids[0];
  return {
    ...measured,
    cpu: measured.cpu ?? stats.cpu,
    memory: measured.memory ?? stats.memory,
    swap: measured.swap ?? stats.swap,
    io: measured.io ?? stats.io,
    startedAtNanos,
    kernel,
    processes: await readProcessUsage(kernel.pids, budget),
    ...(network !== undefined &&
      pid !== undefined && {packets: await readPacketUsage(pid, labels.id === '/' ? network : undefined)}),
  };
}
