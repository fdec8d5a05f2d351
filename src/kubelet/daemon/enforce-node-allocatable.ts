import {pause} from '../../base/async/pause.js';
import type {Clock} from '../../base/clock.js';
import {messageOf, rethrowUnexpected, SystemError} from '../../base/errors.js';
import type {FileLogger} from '../../base/logger.js';
import type {NodeEvent} from '../contract/cluster/node-event.js';
import {getCgroupRoot, type CgroupRoot} from '../resources/cgroup-root.js';
import type {NodeFacts} from '../contract/node-facts.js';
import type {ReservedCgroup} from '../contract/resources/node-reservations.js';
import {limitAllPods, limitExistingCgroup} from '../managers/cgroups/pod-cgroup.js';
import {ensureSharedCgroups, removeSharedCgroups} from '../managers/cgroups/shared-cgroups.js';
import {qosCgroups} from '../resources/pod-cgroup-parent.js';

/** Pause after a failure, for example because the pods use more memory than the limit, in ms. */
const RETRY_MS = 60_000;
const ENFORCED = 'NodeAllocatableEnforced';
const FAILED = 'FailedNodeAllocatableEnforcement';

/** Options of {@link enforceNodeAllocatable}. */
export interface EnforceNodeAllocatableOptions {
  readonly node: NodeFacts;
  readonly clock: Clock;
  readonly logger: FileLogger;
  /** Records an event about the node. */
  readonly record: (event: NodeEvent) => void;
}

/**
 * Creates the cgroups of all pods and of the QoS classes, and limits all pods together; tries again every minute until it
 * succeeds (enforceNodeAllocatableCgroups). A cgroup that another process created is left alone. Never rejects.
 */
export async function enforceNodeAllocatable(
  {node, clock, logger, record}: EnforceNodeAllocatableOptions,
  signal: AbortSignal,
): Promise<void> {
  const root = getCgroupRoot(node);
  if (root?.allPods === undefined) return;
  const {path} = root.allPods;
  while (!signal.aborted) {
    try {
      await ensureSharedCgroups(root, qosCgroups(node.cgroup));
      if (await limitAllPods(root))
        record({type: 'Normal', reason: ENFORCED, message: 'Updated Node Allocatable limit across pods'});
      else logger.info('Not limiting the cgroup of all pods, which another process created', {cgroup: path});
      return;
    } catch (error) {
      const message = `Failed to update Node Allocatable Limits ${JSON.stringify(path)}: ${messageOf(error)}`;
      record({type: 'Warning', reason: FAILED, message});
    }
    await pause(clock, RETRY_MS, signal).catch(() => undefined);
  }
}

/**
 * Removes the cgroups that enforceNodeAllocatable has created, if no pod is left in them. Logs a failure, after which they
 * remain until the next start of the machine. Never rejects.
 */
export async function releaseNodeAllocatable({
  node,
  logger,
}: Pick<EnforceNodeAllocatableOptions, 'node' | 'logger'>): Promise<void> {
  const root = getCgroupRoot(node);
  if (root?.allPods === undefined) return;
  try {
    await removeSharedCgroups(root, qosCgroups(node.cgroup));
  } catch (error) {
    rethrowUnexpected(error);
    logger.error(error, 'Failed to remove the cgroups of all pods');
  }
}

/**
 * Limits the cgroups for which resources are reserved. Rejects with SystemError, after which the kubelet must not start,
 * since its configuration is not in effect.
 */
export async function enforceReservations(
  options: Pick<EnforceNodeAllocatableOptions, 'node' | 'logger' | 'record'>,
): Promise<void> {
  const {node, record} = options;
  const root = getCgroupRoot(node);
  const cgroups = node.reservations?.cgroups ?? [];
  if (root === undefined || cgroups.length === 0) return;
  try {
    // With cgroup v2, that of all pods makes the node's controllers available to those beside it.
    await ensureSharedCgroups(root, qosCgroups(node.cgroup));
    for (const cgroup of cgroups) await enforceReservation(root, cgroup, record);
  } catch (error) {
    await releaseNodeAllocatable(options);
    throw error;
  }
}

async function enforceReservation(
  root: CgroupRoot,
  {kind, path, limits, isCompressible = false}: ReservedCgroup,
  record: EnforceNodeAllocatableOptions['record'],
): Promise<void> {
  try {
    await limitExistingCgroup(root, path, limits);
    record({type: 'Normal', reason: ENFORCED, message: `Updated limits on ${kind} reserved cgroup ${path}`});
  } catch (cause) {
    const what = `${TITLES[kind]} Reserved${isCompressible ? ' Compressible' : ''}`;
    const message = `Failed to enforce ${what} Cgroup Limits on ${JSON.stringify(path)}: ${messageOf(cause)}`;
    record({type: 'Warning', reason: FAILED, message});
    throw new SystemError(message, {cause, hint: HINTS[kind]});
  }
}

const TITLES: Readonly<Record<ReservedCgroup['kind'], string>> = {system: 'System', kube: 'Kube'};
const HINTS: Readonly<Record<ReservedCgroup['kind'], string>> = {
  system: 'create the cgroup, or change systemReservedCgroup or enforceNodeAllocatable',
  kube: 'create the cgroup, or change kubeReservedCgroup or enforceNodeAllocatable',
};
