import {rethrowUnexpected} from '../../../base/errors.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {NodeManager, NodeManagerServices} from '../../contract/node-manager.js';
import type {CgroupLimits} from '../../contract/resources/cgroup-limits.js';
import {getCgroupRoot, type CgroupRoot} from '../../resources/cgroup-root.js';
import {reservableMemory} from '../../resources/node-allocatable.js';
import {qosCgroups} from '../../resources/pod-cgroup-parent.js';
import {qosMemoryLimits, qosMemoryRequests, type QosMemoryRequests} from '../../resources/qos-requests.js';
import {cgroupValues, parseNumber, USAGE_FILES} from './cgroup-files.js';
import {writeLimits} from './cgroup-levels.js';
import {withCreatedCgroups} from './created-cgroups.js';
import {listHierarchies, readText} from './hierarchies.js';

/** Period in which the limits are set again, in ms (periodicQOSCgroupUpdateInterval). */
const PERIOD_MS = 60_000;

type MemoryLimits = Pick<CgroupLimits, 'memoryBytes' | 'memoryFiles'>;

/** Returns the limits of the cgroup of all pods, of Burstable and of BestEffort ones for what the pods request. */
type LimitsOf = (
  requests: QosMemoryRequests,
) => readonly [all: MemoryLimits, burstable: MemoryLimits, bestEffort: MemoryLimits];

/**
 * Creates the manager of the memory of QoS classes: it keeps memory that pods request from those of lower classes (qosReserved), and
 * with memory QoS from the kernel, which only protects a pod if the cgroups above do; undefined without both settings. The limits
 * are set before each new pod, and every minute. Failures are logged. (qosContainerManagerImpl UpdateCgroups)
 */
export function createQosMemory(node: NodeFacts): NodeManager | undefined {
  const root = getCgroupRoot(node);
  const protect = protection(node);
  const computations = [reserve(node), protect].flatMap((each) => each ?? []);
  if (root === undefined || computations.length === 0) return undefined;
  let services: NodeManagerServices | undefined;
  const update = async (): Promise<void> => {
    if (services === undefined) return;
    const requests = qosMemoryRequests(services.activePods());
    if (protect !== undefined) services.metrics.memoryProtected(protectedRequests(node, requests));
    for (const limitsOf of computations)
      for (const [index, limits] of limitsOf(requests).entries())
        await limitMemory(root, qosCgroups(node.cgroup)[index] ?? '', limits);
  };
  const updateOrLog = async (): Promise<void> => {
    try {
      await update();
    } catch (error) {
      rethrowUnexpected(error);
      services?.logger.forFile('qos-memory.ts').error(error, 'Failed to update QoS cgroup configuration');
    }
  };
  return {
    name: 'memory of QoS classes',
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

/** Returns the limits that keep a part of the requests from lower classes (setMemoryReserve); 0 and less are not set. */
function reserve(node: NodeFacts): LimitsOf | undefined {
  const percent = node.qosReservedMemoryPercent;
  const allocatable = reservableMemory(node);
  if (percent === undefined || allocatable === 0n) return undefined;
  const limit = (bytes: bigint): MemoryLimits => (bytes <= 0n ? {} : {memoryBytes: bytes});
  return (requests) => {
    const {burstable, besteffort} = qosMemoryLimits(percent, allocatable, requests);
    return [{}, limit(burstable), limit(besteffort)];
  };
}

/** Returns the limits that keep the requests from the kernel (setMemoryQoS). */
function protection(node: NodeFacts): LimitsOf | undefined {
  if (node.containerPolicy?.memoryQos === undefined || node.cgroup.version !== 2) return undefined;
  return (requests) => {
    const {guaranteed, burstable} = protectedRequests(node, requests);
    return [
      {memoryFiles: {'memory.min': String(guaranteed + burstable)}},
      {memoryFiles: {'memory.low': String(burstable)}},
      {},
    ];
  };
}

/** Returns the requests that are protected: none without the policy. */
function protectedRequests({containerPolicy}: NodeFacts, requests: QosMemoryRequests): QosMemoryRequests {
  return containerPolicy?.memoryQos?.protectsRequests === true ? requests : {guaranteed: 0n, burstable: 0n};
}

/**
 * Limits the memory of a cgroup that kcri has created, or to what it uses, if that is more and the kernel refuses the limit
 * (retrySetMemoryReserve). Rejects with SystemError.
 */
async function limitMemory(root: CgroupRoot, path: string, limits: MemoryLimits): Promise<void> {
  const hierarchy = listHierarchies(root).find(({controllers}) => controllers.includes('memory'));
  if (hierarchy === undefined || Object.keys(limits).length === 0) return;
  const limit = async (changed: MemoryLimits): Promise<void> =>
    writeLimits(hierarchy, path, cgroupValues(root.version, changed));
  await withCreatedCgroups(root, async (created) => {
    const directory = hierarchy.path + path;
    if (!(await created.has(directory))) return;
    try {
      await limit(limits);
    } catch (error) {
      rethrowUnexpected(error);
      const {memoryBytes} = limits;
      if (memoryBytes === undefined) throw error;
      const used = parseNumber(readText(`${directory}/${USAGE_FILES[root.version].usage}`)) ?? 0n;
      await limit({memoryBytes: used > memoryBytes ? used : memoryBytes});
    }
  });
}
