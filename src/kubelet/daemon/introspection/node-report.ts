import type {NodeSettings} from '../../contract/cluster/node-settings.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {NodeReservations, ReservedResources} from '../../contract/resources/node-reservations.js';

/** What the flags and the configuration of a running kubelet decide about its node. Large numbers are texts. */
export interface NodeReport {
  readonly nodeName: string;
  readonly nodeIps: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly cpuMilli: string;
  readonly memoryBytes: string;
  /** Sum of systemReserved and kubeReserved; absent if nothing is reserved. */
  readonly reserved?: Readonly<Record<keyof ReservedResources, string>>;
  readonly settings: NodeSettings;
}

export function createNodeReport(node: NodeFacts, settings: NodeSettings): NodeReport {
  const {nodeName, nodeIps, labels, cpuMilli, memoryBytes, reservations} = node;
  return {
    nodeName,
    nodeIps,
    labels,
    cpuMilli: String(cpuMilli),
    memoryBytes: String(memoryBytes),
    ...(reservations && {reserved: reservedTexts(reservations)}),
    settings,
  };
}

function reservedTexts({total}: NodeReservations): NonNullable<NodeReport['reserved']> {
  return {
    cpuMilli: String(total.cpuMilli),
    memoryBytes: String(total.memoryBytes),
    ephemeralStorageBytes: String(total.ephemeralStorageBytes),
    pids: String(total.pids),
  };
}

/** Returns the facts of the machine with those that the running kubelet has for its node. */
export function withReportedFacts(machine: NodeFacts, report: NodeReport): NodeFacts {
  const {nodeName, nodeIps, labels, cpuMilli, memoryBytes, reserved} = report;
  return {
    ...machine,
    nodeName,
    nodeIps,
    labels,
    cpuMilli: BigInt(cpuMilli),
    memoryBytes: BigInt(memoryBytes),
    ...(reserved && {reservations: parseReserved(reserved)}),
  };
}

/** Returns the reserved resources; their limits are the daemon's affair. */
function parseReserved(reserved: NonNullable<NodeReport['reserved']>): NodeReservations {
  const total = {
    cpuMilli: BigInt(reserved.cpuMilli),
    memoryBytes: BigInt(reserved.memoryBytes),
    ephemeralStorageBytes: BigInt(reserved.ephemeralStorageBytes),
    pids: BigInt(reserved.pids),
  };
  return {total, limitsPods: false, cgroups: []};
}
