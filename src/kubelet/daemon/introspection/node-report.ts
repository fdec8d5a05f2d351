import type {NodeSettings} from '../../contract/cluster/node-settings.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {NodeReservations, ReservedResources} from '../../contract/resources/node-reservations.js';

/** Settings of a node by the flags and the configuration of its running kubelet. Large numbers are texts. */
export interface NodeReport {
  readonly nodeName: string;
  readonly nodeIps: readonly string[];
  readonly hostIps: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly cpuMilli: string;
  readonly memoryBytes: string;
  /** 0 if local storage is not isolated; absent in reports of older versions. */
  readonly ephemeralStorageBytes?: string;
  /** Sum of systemReserved and kubeReserved; absent if nothing is reserved. */
  readonly reserved?: Readonly<Record<keyof ReservedResources, string>>;
  /** Resources that hard eviction thresholds retain; present together with `reserved`. */
  readonly evictionReserve?: Readonly<Record<keyof NodeReservations['eviction'], string>>;
  /** How the node gives containers resources of their own; absent in reports of older versions. */
  readonly managers?: ManagerSettings;
  readonly settings: NodeSettings;
}

type ManagerSettings = Pick<
  NodeFacts,
  'cpuManager' | 'memoryManager' | 'topologyManager' | 'devicePluginsDir'
>;

export function createNodeReport(node: NodeFacts, settings: NodeSettings): NodeReport {
  const {nodeName, nodeIps, hostIps, labels, cpuMilli, memoryBytes, ephemeralStorageBytes} = node;
  const {reservations, cpuManager, memoryManager, topologyManager, devicePluginsDir} = node;
  return {
    nodeName,
    nodeIps,
    hostIps: hostIps.current,
    labels,
    cpuMilli: String(cpuMilli),
    memoryBytes: String(memoryBytes),
    ephemeralStorageBytes: String(ephemeralStorageBytes),
    ...(reservations && reservationTexts(reservations)),
    managers: {cpuManager, memoryManager, topologyManager, devicePluginsDir},
    settings,
  };
}

function reservationTexts({
  total,
  eviction,
}: NodeReservations): Required<Pick<NodeReport, 'reserved' | 'evictionReserve'>> {
  return {
    reserved: {
      cpuMilli: String(total.cpuMilli),
      memoryBytes: String(total.memoryBytes),
      ephemeralStorageBytes: String(total.ephemeralStorageBytes),
      pids: String(total.pids),
    },
    evictionReserve: {
      memoryBytes: String(eviction.memoryBytes),
      ephemeralStorageBytes: String(eviction.ephemeralStorageBytes),
    },
  };
}

/** Returns the facts of the machine with those that the running kubelet has for its node. */
export function withReportedFacts(machine: NodeFacts, report: NodeReport): NodeFacts {
  const {nodeName, nodeIps, hostIps, labels, cpuMilli, memoryBytes, reserved} = report;
  const {ephemeralStorageBytes: storage, evictionReserve: reserve} = report;
  return {
    ...withReportedManagers(machine, report),
    nodeName,
    nodeIps,
    hostIps: {current: hostIps},
    labels,
    cpuMilli: BigInt(cpuMilli),
    memoryBytes: BigInt(memoryBytes),
    ...(storage !== undefined && {ephemeralStorageBytes: BigInt(storage)}),
    ...(reserved && reserve && {reservations: parseReservations(reserved, reserve)}),
  };
}

/**
 * Returns the facts of the machine with the managers of the running kubelet, and what it reserves, if it gives containers CPUs,
 * memory or devices of their own.
 */
export function withReportedManagers(machine: NodeFacts, {managers, ...report}: NodeReport): NodeFacts {
  const {reserved, evictionReserve: reserve} = report;
  const gives =
    managers?.cpuManager?.policy === 'static' ||
    managers?.memoryManager?.policy === 'Static' ||
    managers?.devicePluginsDir !== undefined;
  if (!gives) return machine;
  return {
    ...machine,
    ...managers,
    ...(reserved && reserve && {reservations: parseReservations(reserved, reserve)}),
  };
}

/** Returns the reserved resources; their limits are the daemon's affair. */
function parseReservations(
  reserved: NonNullable<NodeReport['reserved']>,
  reserve: NonNullable<NodeReport['evictionReserve']>,
): NodeReservations {
  const total = {
    cpuMilli: BigInt(reserved.cpuMilli),
    memoryBytes: BigInt(reserved.memoryBytes),
    ephemeralStorageBytes: BigInt(reserved.ephemeralStorageBytes),
    pids: BigInt(reserved.pids),
  };
  const eviction = {
    memoryBytes: BigInt(reserve.memoryBytes),
    ephemeralStorageBytes: BigInt(reserve.ephemeralStorageBytes),
  };
  return {total, eviction, limitsPods: false, cgroups: []};
}
