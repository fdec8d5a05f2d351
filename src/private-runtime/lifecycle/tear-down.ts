import {existsSync, readdirSync, rmdirSync} from 'node:fs';
import {rm} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import type {Clock} from '../../base/clock.js';
import {hasErrno} from '../../base/errors.js';
import {stateDirectory} from '../../base/fs/state-directory.js';
import {CGROUPS_LOCK, NETWORK_LOCK} from '../../base/fs/machine-locks.js';
import {listOwnNetworks, removeBridges} from '../network/bridge.js';
import {bundleCgroup, listBundles, type Bundle} from '../containerd/bundles.js';
import {isInCgroup, removeCgroups} from '../host/remove-cgroups.js';
import {withLock} from '../host/with-lock.js';
import {removeIptablesRules} from '../network/iptables.js';
import {POD_DIRS, POD_FILES, RUN_ROOT, type PrivateRuntimeLayout} from '../private-runtime-layout.js';
import {unmountAndRemove} from '../host/mounts.js';
import {
  descendantsOf,
  terminateProcesses,
  isContainerdWithConfig,
  isShimOf,
  listProcesses,
  type RunningProcess,
} from '../process/processes.js';
import {readRuntimeRecord} from '../private-runtime-record.js';

/** Directory of libcni's results, for all runtimes; each file is named after network and container. */
const CNI_RESULTS = '/var/lib/cni/results';

/** A runtime to tear down. */
export interface TearDownTarget {
  readonly rootDir: string;
  readonly layout: PrivateRuntimeLayout;
  readonly clock: Clock;
  /** True to remove kcri's root directory too, once it is empty. */
  readonly removeRootDir: boolean;
  /** Removes resources of pods outside the runtime, such as volumes, after their processes have ended. */
  readonly removePods?: (() => Promise<void>) | undefined;
  /** Removes the records of its images, after the images: until then the records say who may use them. */
  readonly removeImageRecords?: (() => Promise<void>) | undefined;
}

/**
 * Removes everything of one private runtime, in any state and whether its containerd runs or not: processes, mounts,
 * network, cgroups and files, in this order. Each is identified by something unique to this runtime (its configuration
 * file, socket, directories, bridge), so that no other containerd is touched.
 */
export async function tearDown(target: TearDownTarget): Promise<void> {
  const {rootDir, layout, clock} = target;
  const bundles = listBundles(layout);
  const recordedNetwork = readRuntimeRecord(rootDir)?.network.bridge;
  await endAllProcesses(layout, bundles, clock);
  // Other runtimes on the machine may start or stop at the same time.
  await withLock({lockFile: NETWORK_LOCK}, () => removeNetwork(layout, bundles, recordedNetwork));
  await withLock({lockFile: CGROUPS_LOCK}, async () => {
    removeCgroups(bundles.flatMap((bundle) => bundleCgroup(bundle) ?? []));
  });
  // The record is removed last, so that an interrupted removal can be repeated.
  await target.removePods?.();
  await removeFiles(layout, bundles);
  await target.removeImageRecords?.();
  await removeUnusedState(rootDir);
  if (target.removeRootDir) removeEmptyDirs([rootDir]);
}

/** Removes what pods have used in the root directory, as far as none uses it any more. */
export async function removeUnusedState(rootDir: string): Promise<void> {
  const directories = POD_DIRS.map((name) => join(rootDir, name));
  removeEmptyDirs([...directories, stateDirectory(rootDir)]);
  if (directories.some((directory) => existsSync(directory))) return;
  for (const name of POD_FILES) await rm(join(rootDir, name), {force: true});
}

async function endAllProcesses(
  layout: PrivateRuntimeLayout,
  bundles: readonly Bundle[],
  clock: Clock,
): Promise<void> {
  const containerds = listProcesses().filter((candidate) =>
    isContainerdWithConfig(layout.configFile, candidate),
  );
  await terminateProcesses(identitiesOf(containerds), {graceMs: 5000, clock});
  // A shim reaps its containers' processes, so these are killed first. Processes that start in the meantime are found
  // in
  // the next round.
  await endAll(() => containedProcesses(layout, bundles), clock);
  await endAll(() => shimsOf(layout, listProcesses()), clock);
}

async function endAll(find: () => readonly RunningProcess[], clock: Clock): Promise<void> {
  for (let found = find(); found.length > 0; found = find()) {
    await terminateProcesses(identitiesOf(found), {graceMs: 0, clock});
  }
}

function shimsOf({socket}: PrivateRuntimeLayout, all: readonly RunningProcess[]): RunningProcess[] {
  return all.filter((candidate) => isShimOf(socket, candidate));
}

/** Returns the children of the shims and all other processes in the containers' cgroups. */
function containedProcesses(layout: PrivateRuntimeLayout, bundles: readonly Bundle[]): RunningProcess[] {
  const all = listProcesses();
  const started = descendantsOf(shimsOf(layout, all), all);
  const cgroups = bundles.flatMap((bundle) => bundleCgroup(bundle) ?? []);
  const inCgroups = all.filter((candidate) => cgroups.some((cgroup) => isInCgroup(cgroup, candidate)));
  return [...new Set([...started, ...inCgroups])];
}

function identitiesOf(processes: readonly RunningProcess[]): RunningProcess['identity'][] {
  return processes.map(({identity}) => identity);
}

async function removeNetwork(
  layout: PrivateRuntimeLayout,
  bundles: readonly Bundle[],
  recorded: string | undefined,
): Promise<void> {
  for (const network of listOwnNetworks(layout, recorded)) {
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

async function removeFiles(layout: PrivateRuntimeLayout, bundles: readonly Bundle[]): Promise<void> {
  const sockets = bundles.flatMap(({shimSocket}) => shimSocket ?? []);
  for (const socket of sockets) await rm(socket, {force: true});
  await unmountAndRemove(layout.stateDir);
  await unmountAndRemove(layout.root);
  const runDir = dirname(layout.socket);
  if (runDir !== layout.root) await unmountAndRemove(runDir);
  removeEmptyDirs(['/run/containerd/s', '/run/containerd', RUN_ROOT]);
}

/** Removes directories that others may use too, if they are empty. A read-only filesystem says EROFS for missing ones. */
function removeEmptyDirs(dirs: readonly string[]): void {
  for (const dir of dirs) {
    try {
      rmdirSync(dir);
    } catch (error) {
      if (!hasErrno(error, 'ENOENT', 'ENOTEMPTY', 'EBUSY', 'EROFS')) throw error;
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
