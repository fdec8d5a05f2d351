import {findFileUsers, textOf, type FileUser} from '../../../base/host/open-files.js';
import {findPortOwner} from '../../../base/host/find-port-owner.js';
import {parseMountInfo} from '../../../base/fs/mount-info.js';
import {LOCAL_FILES} from './node-files.js';
import type {Holder, HolderProcess} from './pod-snapshot.js';
import {hostPortsOf, type WantedHolders} from './wanted-holders.js';

/** Number of processes that are named for a path. */
const MAX_USERS = 5;

/** A pod whose host ports are compared. */
export interface PodWithPorts {
  readonly title: string;
  readonly pod: Parameters<typeof hostPortsOf>[0];
}

/**
 * Looks for the users of ports and paths on this machine. `others` are the other pods of the node. Rejects with the signal's
 * reason.
 */
export async function collectHolders(
  {ports, paths}: WantedHolders,
  others: readonly PodWithPorts[],
  signal: AbortSignal,
): Promise<readonly Holder[]> {
  const holders: Holder[] = [];
  for (const port of ports) {
    const owner = await findPortOwner(port, signal);
    const pods = others.filter(({pod}) => hostPortsOf(pod).includes(port)).map(({title}) => title);
    holders.push({of: {port}, processes: await withContainers(owner === undefined ? [] : [owner]), pods});
  }
  const mounts = paths.length === 0 ? [] : parseMountInfo(await LOCAL_FILES.read('/proc/self/mountinfo'));
  for (const path of paths) {
    // A device is busy where it is mounted.
    const places = [path, ...mounts.filter(({source}) => source === path).map((mount) => mount.path)];
    const isBelow = (target: string): boolean =>
      places.some((place) => target === place || target.startsWith(`${place}/`));
    const users = await findFileUsers(isBelow, {count: MAX_USERS, places: true, signal});
    holders.push({of: {path}, processes: await withContainers(users), pods: []});
  }
  return holders;
}

/** Adds the containers of processes. */
async function withContainers(users: readonly FileUser[]): Promise<readonly HolderProcess[]> {
  return await Promise.all(
    users.map(async (user) => {
      const containerId = /[0-9a-f]{64}/.exec(await textOf(`/proc/${user.pid}/cgroup`))?.[0];
      return {...user, ...(containerId !== undefined && {containerId})};
    }),
  );
}
