import {rethrowUnexpected} from '../../../base/errors.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {NodeManager, NodeManagerServices} from '../../contract/node-manager.js';
import {getCgroupRoot, type CgroupRoot} from '../../resources/cgroup-root.js';
import {reservableMemory} from '../../resources/node-allocatable.js';
import {isQosCgroup, qosCgroups} from '../../resources/pod-cgroup-parent.js';
import {qosMemoryLimits} from '../../resources/qos-reserved.js';
import {cgroupValues, parseNumber, USAGE_FILES} from './cgroup-files.js';
import {writeLimits} from './cgroup-levels.js';
import {withCreatedCgroups} from './created-cgroups.js';
import {listHierarchies, readText} from './hierarchies.js';

/** Period in which the limits are set again, in ms (periodicQOSCgroupUpdateInterval). */
const PERIOD_MS = 60_000;

/**
 * Creates the manager that keeps memory that pods request from those of lower QoS classes (qosReserved); undefined without the
 * setting. The limits are set before each new pod, and every minute. Failures are logged.
 */
export function createQosReserve(node: NodeFacts): NodeManager | undefined {
  const percent = node.qosReservedMemoryPercent;
  const root = getCgroupRoot(node);
  const allocatable = reservableMemory(node);
  if (percent === undefined || root === undefined || allocatable === 0n) return undefined;
  let services: NodeManagerServices | undefined;
  const update = async (): Promise<void> => {
    if (services === undefined) return;
    const limits = qosMemoryLimits(percent, allocatable, services.activePods());
    for (const qos of ['burstable', 'besteffort'] as const) {
      const path = qosCgroups(node.cgroup).find((each) => isQosCgroup(each, qos));
      if (path !== undefined) await limitMemory(root, path, limits[qos]);
    }
  };
  const updateOrLog = async (): Promise<void> => {
    try {
      await update();
    } catch (error) {
      rethrowUnexpected(error);
      services?.logger.forFile('qos-reserve.ts').error(error, 'Failed to update QoS cgroup configuration');
    }
  };
  return {
    name: 'QoS reserve',
    start: async (given) => {
      services = given;
      return Promise.resolve();
    },
    preparePod: async () => {
      await updateOrLog();
      return undefined;
    },
    reconcile: {periodMs: PERIOD_MS, run: updateOrLog},
  };
}

/**
 * Limits the memory of a cgroup that kcri has created, or to what it uses, if that is more and the kernel refuses the limit
 * (retrySetMemoryReserve). 0 and less are not set. Rejects with SystemError.
 */
async function limitMemory(root: CgroupRoot, path: string, bytes: bigint): Promise<void> {
  if (bytes <= 0n) return;
  const hierarchy = (await listHierarchies(root)).find(({controllers}) => controllers.includes('memory'));
  if (hierarchy === undefined) return;
  const limit = async (memoryBytes: bigint): Promise<void> =>
    writeLimits(hierarchy, path, cgroupValues(root.version, {memoryBytes}));
  await withCreatedCgroups(root, async (created) => {
    const directory = hierarchy.path + path;
    if (!(await created.has(directory))) return;
    try {
      await limit(bytes);
    } catch (error) {
      rethrowUnexpected(error);
      const used = parseNumber(await readText(`${directory}/${USAGE_FILES[root.version].usage}`)) ?? 0n;
      await limit(used > bytes ? used : bytes);
    }
  });
}
