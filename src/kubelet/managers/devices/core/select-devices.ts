import {SystemError} from '../../../../base/errors.js';
import {haveTopology, numaNodesOf, WITHOUT_NUMA_NODE, type Devices} from './device.js';

/** A container's request of a resource, and the state that decides about it. */
export interface DeviceRequest {
  readonly uid: string;
  readonly container: string;
  readonly resource: string;
  readonly required: number;
  /** Devices that the container has; undefined if it was not given any. */
  readonly held: ReadonlySet<string> | undefined;
  /** Devices of the pod's init containers that have ended by the time the container runs. */
  readonly reusable: ReadonlySet<string>;
  readonly devices: Devices;
  /** IDs of healthy devices; undefined if the resource is not registered. */
  readonly healthy: ReadonlySet<string> | undefined;
  /** IDs that containers use. */
  readonly used: ReadonlySet<string>;
  /** True if the container runs, and has what it needs: the kubelet was restarted, and not all sources are ready. */
  readonly isRunning: boolean;
  /** NUMA nodes to take devices from, as a bit mask; undefined for any. */
  readonly affinity: bigint | undefined;
}

/** Devices to allocate, or a question to the plugin that completes them. */
export type Selection =
  | {readonly kind: 'selected'; readonly ids: readonly string[]}
  | {readonly kind: 'ask'; readonly question: PreferenceQuestion};

/** A question for the devices that a plugin prefers. */
export interface PreferenceQuestion {
  readonly available: readonly string[];
  /** Devices that are taken already. */
  readonly mustInclude: readonly string[];
  readonly required: number;
  /** Devices to take in this order: first of these those that the plugin prefers. */
  readonly candidates: readonly (readonly string[])[];
}

/**
 * Selects devices for a container (devicesToAllocate); none if it has what it needs. Where any of several would do, the first of
 * the plugin's list are taken.
 *
 * @throws SystemError if the devices cannot be had.
 */
export function selectDevices(request: DeviceRequest): Selection {
  const {resource, required, held, reusable, healthy} = request;
  if (held !== undefined && held.size !== required)
    throw new SystemError(
      `pod "${request.uid}" container "${request.container}" changed request for resource "${resource}" from ${held.size} to ${required}`,
    );
  if (request.isRunning) return selected([]);
  if (healthy === undefined) throw new SystemError(`cannot allocate unregistered device ${resource}`);
  if (healthy.size === 0)
    throw new SystemError(`no healthy devices present; cannot allocate unhealthy devices ${resource}`);
  if (held !== undefined && [...held].some((id) => !healthy.has(id)))
    throw new SystemError(
      `previously allocated devices are no longer healthy; cannot allocate unhealthy devices ${resource}`,
    );
  const needed = held === undefined ? required : 0;
  const taken = [...reusable].slice(0, needed);
  if (taken.length === needed) return selected(taken);
  const available = [...request.devices.keys()].filter(
    (id) => healthy.has(id) && !request.used.has(id) && !taken.includes(id),
  );
  const missing = needed - taken.length;
  if (available.length < missing)
    throw new SystemError(
      `requested number of devices unavailable for ${resource}. Requested: ${missing}, Available: ${available.length}`,
    );
  return selectAvailable(request, available, taken);
}

function selectAvailable(
  request: DeviceRequest,
  available: readonly string[],
  taken: readonly string[],
): Selection {
  const {required} = request;
  const {aligned, unaligned, withoutNode} = groupByAffinity(request, available);
  if (required - taken.length < aligned.length)
    return {
      kind: 'ask',
      question: {
        available: [...aligned, ...taken],
        mustInclude: taken,
        required,
        candidates: [aligned],
      },
    };
  const withAligned = [...taken, ...aligned];
  if (withAligned.length === required) return selected(withAligned);
  return {
    kind: 'ask',
    question: {
      available: [...available, ...taken],
      mustInclude: withAligned,
      required,
      candidates: [unaligned, withoutNode],
    },
  };
}

/** Completes the devices with those that the plugin prefers, and with others if it prefers too few. */
export function completeSelection(
  {mustInclude, required, candidates}: PreferenceQuestion,
  preferred: readonly string[],
): readonly string[] {
  const rest = new Set(candidates.flat());
  const wanted = preferred.filter((id) => rest.has(id));
  return [...new Set([...mustInclude, ...wanted, ...rest])].slice(0, required);
}

function selected(ids: readonly string[]): Selection {
  return {kind: 'selected', ids};
}

/** Available devices by their NUMA nodes. */
interface Groups {
  readonly aligned: readonly string[];
  readonly unaligned: readonly string[];
  readonly withoutNode: readonly string[];
}

/** Groups devices by whether they belong to the wanted NUMA nodes, others, or none (filterByAffinity). */
function groupByAffinity({devices, affinity}: DeviceRequest, available: readonly string[]): Groups {
  if (affinity === undefined || !haveTopology(devices))
    return {aligned: [], unaligned: [], withoutNode: available};
  const isAligned = (id: string): boolean =>
    numaNodesOf(devices.get(id)).some((node) => node >= 0 && ((affinity >> BigInt(node)) & 1n) === 1n);
  const hasNode = (id: string): boolean => !numaNodesOf(devices.get(id)).includes(WITHOUT_NUMA_NODE);
  return {
    aligned: available.filter(isAligned),
    unaligned: available.filter((id) => hasNode(id) && !isAligned(id)),
    withoutNode: available.filter((id) => !hasNode(id) && !isAligned(id)),
  };
}
