import {isPathSegment} from '../../../base/fs/files.js';
import {pause} from '../../../base/async/pause.js';
import type {Clock} from '../../../base/clock.js';
import {isExpectedError} from '../../../base/errors.js';
import type {FileLogger, Logger} from '../../../base/logger.js';
import {podUid, type PodUid} from '../../../cri/index.js';
import type {KubeRuntimeService} from '../../contract/kube-services.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {haveProcesses, listPodCgroups} from '../../managers/cgroups/list-pod-cgroups.js';
import {removePodCgroup} from '../../managers/cgroups/remove-pod-cgroup.js';
import {POD_UID_LABEL} from '../../managers/kuberuntime/config/labels.js';
import {getCgroupRoot, type CgroupRoot} from '../../resources/cgroup-root.js';
import {podCgroupParents} from '../../resources/pod-cgroup-parent.js';
import {listPodsFromDisk} from '../registry/left-pods.js';
import type {PodStore} from '../registry/pod-store.js';

/** Period in which cgroups of orphaned pods are looked for, in ms. */
const PERIOD_MS = 60_000;

/** Options of {@link removeOrphanedCgroups}. */
export interface OrphanedCgroupsOptions {
  readonly node: NodeFacts;
  readonly runtime: Pick<KubeRuntimeService, 'listPodSandbox'>;
  /** Records of all processes that use the root directory. */
  readonly store: Pick<PodStore, 'uids'>;
  /** Reports whether a source has the pod, or something of it is left to stop or remove. */
  readonly hasPod: (uid: PodUid) => boolean;
  readonly allSourcesReady: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Removes the cgroups of orphaned pods until the signal aborts (cleanupOrphanedPodCgroups): those that an earlier process has
 * left, of which nothing else is left. A kubelet removes all cgroups that are not of its pods, and kills what is in them. Another
 * process with its own root directory may have pods here, so only cgroups without processes are removed that no record, no
 * directory and no sandbox belongs to, and that were so in two periods.
 */
export async function removeOrphanedCgroups(
  options: OrphanedCgroupsOptions,
  signal: AbortSignal,
): Promise<void> {
  const {node, clock, logger, allSourcesReady} = options;
  const root = getCgroupRoot(node);
  if (root === undefined) return;
  const log = logger.forFile('orphaned-cgroups.ts');
  let before: ReadonlySet<PodUid> = new Set();
  while (!signal.aborted) {
    await pause(clock, PERIOD_MS, signal).catch(() => undefined); // aborted
    if (isAborted(signal) || !allSourcesReady()) continue;
    try {
      const orphans = await findOrphans(root, options, signal);
      for (const uid of orphans) if (before.has(uid)) await remove(uid, root, options, log);
      before = new Set(orphans);
    } catch (error) {
      if (isAborted(signal)) return;
      if (!isExpectedError(error)) throw error;
      log.error(error, 'Failed to look for cgroups of orphaned pods');
    }
  }
}

/** Returns the UIDs of the pods of which only cgroups are left. Rejects with SystemError and CriError. */
async function findOrphans(
  root: CgroupRoot,
  {node, runtime, store, hasPod}: OrphanedCgroupsOptions,
  signal: AbortSignal,
): Promise<readonly PodUid[]> {
  const found = listPodCgroups(root, node.cgroup);
  const unknown = [...found.keys()]
    .filter(isPathSegment)
    .map(podUid)
    .filter((uid) => !hasPod(uid));
  if (unknown.length === 0) return [];
  const {items: sandboxes} = await runtime.listPodSandbox({}, {signal});
  const known = new Set<string>([
    ...sandboxes.map(({labels}) => labels[POD_UID_LABEL] ?? ''),
    ...(await store.uids()),
    ...(await listPodsFromDisk(node)),
  ]);
  const orphans: PodUid[] = [];
  for (const uid of unknown)
    if (!known.has(uid) && !(await haveProcesses(found.get(uid) ?? []))) orphans.push(uid);
  return orphans;
}

/** Removes the cgroups of a pod, unless it was created meanwhile. A failure is logged. */
async function remove(
  uid: PodUid,
  root: CgroupRoot,
  {node, clock, hasPod}: OrphanedCgroupsOptions,
  log: FileLogger,
): Promise<void> {
  if (hasPod(uid)) return;
  log.info('Orphaned pod found, removing pod cgroups', {podUID: uid});
  try {
    await removePodCgroup(root, podCgroupParents(uid, node.cgroup), clock);
  } catch (error) {
    if (!isExpectedError(error)) throw error;
    log.error(error, 'Failed to destroy orphaned pod cgroup', {podUID: uid});
  }
}

/** Reads the signal again after a wait. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
