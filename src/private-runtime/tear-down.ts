import {readdirSync, rmdirSync} from 'node:fs';
import {rm} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import type {Clock} from '../base/clock.js';
import {hasErrno} from '../base/errors.js';
import {CGROUPS_LOCK, NETWORK_LOCK} from '../base/machine-locks.js';
import {ownNetworks, removeBridges} from './bridge.js';
import {cgroupOf, listBundles, type Bundle} from './bundles.js';
import {isInCgroup, removeCgroups} from './cgroups.js';
import {exclusively} from './exclusively.js';
import {removeIptablesRules} from './iptables.js';
import {POD_DIRS, RUN_ROOT, type Layout} from './layout.js';
import {unmountAndRemove} from './mounts.js';
import {
  descendantsOf,
  endProcesses,
  isContainerdWith,
  isShimOf,
  listProcesses,
  type RunningProcess,
} from './processes.js';
import {readRecord} from './record.js';

/** Where libcni keeps its results, whatever the runtime: each file is named after network and container. */
const CNI_RESULTS = '/var/lib/cni/results';

/** What to tear down. */
export interface TearDownTarget {
  readonly rootDir: string;
  readonly layout: Layout;
  readonly clock: Clock;
  /** Whether kcri's root directory goes too, once nothing is left in it. */
  readonly removeRootDir: boolean;
  /** Removes what pods have beside the runtime, such as volumes. No process of theirs runs any more. */
  readonly removePods?: (() => Promise<void>) | undefined;
  /** Removes what is recorded of its images, which are gone: before that it says who may use them. */
  readonly forgetImages?: (() => Promise<void>) | undefined;
}

/**
 * Ends and removes all of one private runtime, whatever state it is in and whether its containerd runs or
 * not: processes, mounts, network, cgroups, files, in this order. Each is found by what only this runtime has
 * (its configuration file, socket, directories, bridge), so that no other containerd is ever touched.
 */
export async function tearDown(target: TearDownTarget): Promise<void> {
  const {rootDir, layout, clock} = target;
  const bundles = listBundles(layout);
  const recordedNetwork = readRecord(rootDir)?.network.bridge;
  await endAllProcesses(layout, bundles, clock);
  // Other runtimes of the machine may be coming and going.
  await exclusively({lockFile: NETWORK_LOCK}, () => removeNetwork(layout, bundles, recordedNetwork));
  await exclusively({lockFile: CGROUPS_LOCK}, async () => {
    removeCgroups(bundles.flatMap((bundle) => cgroupOf(bundle) ?? []));
  });
  // The record goes last, so that what is interrupted can be done again.
  await target.removePods?.();
  await removeFiles(layout, bundles);
  await target.forgetImages?.();
  removeEmptyDirs(POD_DIRS.map((name) => join(rootDir, name)));
  if (target.removeRootDir) removeEmptyDirs([rootDir]);
}

async function endAllProcesses(layout: Layout, bundles: readonly Bundle[], clock: Clock): Promise<void> {
  const containerds = listProcesses().filter((candidate) => isContainerdWith(layout.configFile, candidate));
  await endProcesses(identitiesOf(containerds), {graceMs: 5000, clock});
  // A shim waits for its containers' processes: they go first, or nobody collects them at once. What starts
  // while the others are being ended is found in the next round.
  await endAll(() => containedProcesses(layout, bundles), clock);
  await endAll(() => shimsOf(layout, listProcesses()), clock);
}

async function endAll(find: () => readonly RunningProcess[], clock: Clock): Promise<void> {
  for (let found = find(); found.length > 0; found = find()) {
    await endProcesses(identitiesOf(found), {graceMs: 0, clock});
  }
}

function shimsOf({socket}: Layout, all: readonly RunningProcess[]): RunningProcess[] {
  return all.filter((candidate) => isShimOf(socket, candidate));
}

/** What the shims started, and whatever else is in a container's cgroup. */
function containedProcesses(layout: Layout, bundles: readonly Bundle[]): RunningProcess[] {
  const all = listProcesses();
  const started = descendantsOf(shimsOf(layout, all), all);
  const cgroups = bundles.flatMap((bundle) => cgroupOf(bundle) ?? []);
  const inCgroups = all.filter((candidate) => cgroups.some((cgroup) => isInCgroup(cgroup, candidate)));
  return [...new Set([...started, ...inCgroups])];
}

function identitiesOf(processes: readonly RunningProcess[]): RunningProcess['identity'][] {
  return processes.map(({identity}) => identity);
}

async function removeNetwork(
  layout: Layout,
  bundles: readonly Bundle[],
  recorded: string | undefined,
): Promise<void> {
  for (const network of ownNetworks(layout, recorded)) {
    await removeIptablesRules(network);
    for (const name of cniResultsOf(network, bundles)) await rm(join(CNI_RESULTS, name), {force: true});
  }
  await removeBridges(layout);
  removeEmptyDirs([CNI_RESULTS, dirname(CNI_RESULTS)]);
}

function cniResultsOf(network: string, bundles: readonly Bundle[]): string[] {
  const names = readdirIfThere(CNI_RESULTS);
  const own = names.filter((name) => name.startsWith(`${network}-`));
  const ids = [
    ...own.map((name) => name.slice(network.length + 1).replace(/-[^-]*$/, '')),
    ...bundles.map(({id}) => id),
  ];
  return [...own, ...names.filter((name) => ids.some((id) => name === `cni-loopback-${id}-lo`))];
}

async function removeFiles(layout: Layout, bundles: readonly Bundle[]): Promise<void> {
  const sockets = bundles.flatMap(({shimSocket}) => shimSocket ?? []);
  for (const socket of sockets) await rm(socket, {force: true});
  await unmountAndRemove(layout.stateDir);
  await unmountAndRemove(layout.root);
  const runDir = dirname(layout.socket);
  if (runDir !== layout.root) await unmountAndRemove(runDir);
  removeEmptyDirs(['/run/containerd/s', '/run/containerd', RUN_ROOT]);
}

/** Directories that others may use too: they go when nothing is in them. */
function removeEmptyDirs(dirs: readonly string[]): void {
  for (const dir of dirs) {
    try {
      rmdirSync(dir);
    } catch (error) {
      if (!hasErrno(error, 'ENOENT', 'ENOTEMPTY', 'EBUSY')) throw error;
    }
  }
}

function readdirIfThere(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  }
}
