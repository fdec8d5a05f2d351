import {
  addQuantities,
  canonicalizeQuantity,
  compareQuantities,
  NANOS_PER_UNIT,
  parseQuantity,
} from '../../../api/quantity.js';
import type {ResourceList} from '../../../api/types/v1-meta.js';
import {compare} from '../../../base/compare.js';
import {SystemError} from '../../../base/errors.js';
import {goQuote} from '../../../format/go-quote.js';
import type {MemoryReservation} from '../../contract/resources/memory-settings.js';
import {isMemoryType} from './memory-requests.js';

/** Bytes that are kept for the system, by NUMA node and type of memory. */
export type SystemReservedMemory = ReadonlyMap<number, ReadonlyMap<string, number>>;

const HINT =
  'the sum of reservedMemory over the NUMA nodes must be kubeReserved + systemReserved + evictionHard';

/**
 * Returns the memory reserved per NUMA node, which together must be what the node reserves. Throws SystemError with the
 * kubelet's text (getSystemReservedMemory, NewPolicyStatic).
 */
export function systemReservedMemory(
  nodes: readonly number[],
  nodeReserved: ResourceList,
  reservations: readonly MemoryReservation[],
): SystemReservedMemory {
  checkTotals(nodeReserved, totals(nodes, reservations));
  const reserved = new Map<number, Map<string, number>>();
  for (const {numaNode, limits} of reservations)
    for (const [type, quantity] of Object.entries(limits))
      reserved.set(
        numaNode,
        (reserved.get(numaNode) ?? new Map<string, number>()).set(type, wholeBytes(quantity)),
      );
  const memory = [...reserved.values()].reduce((sum, types) => sum + (types.get('memory') ?? 0), 0);
  if (memory <= 0)
    throw new SystemError('[memorymanager] you should specify the system reserved memory', {hint: HINT});
  return reserved;
}

function totals(nodes: readonly number[], reservations: readonly MemoryReservation[]): ResourceList {
  const total: Record<string, string> = {};
  for (const {numaNode, limits} of reservations) {
    if (!nodes.includes(numaNode))
      throw new SystemError(
        `the reserved memory configuration references a NUMA node ${numaNode} that does not exist on this machine`,
        {hint: 'change numaNode in reservedMemory'},
      );
    for (const [type, quantity] of Object.entries(limits))
      total[type] = total[type] === undefined ? quantity : addQuantities(quantity, total[type]);
  }
  return total;
}

/** Compares the sums by type, sorted: a kubelet reports any one of several that differ. */
function checkTotals(nodeReserved: ResourceList, total: ResourceList): void {
  const types = new Set([...Object.keys(total), ...Object.keys(nodeReserved).filter(isMemoryType)]);
  for (const type of [...types].toSorted(compare)) {
    const [expected, actual] = [nodeReserved[type] ?? '0', total[type] ?? '0'];
    if (compareQuantities(expected, actual) !== 0)
      throw new SystemError(
        `the total amount ${goQuote(canonicalizeQuantity(actual))} of type ${goQuote(type)} is not equal to the value ${goQuote(canonicalizeQuantity(expected))} determined by Node Allocatable feature`,
        {hint: HINT},
      );
  }
}

function wholeBytes(quantity: string): number {
  const {nanos} = parseQuantity(quantity);
  if (nanos % NANOS_PER_UNIT !== 0n)
    throw new SystemError('could not covert a variable of type Quantity to int64');
  return Number(nanos / NANOS_PER_UNIT);
}
