import {SystemError} from '../../../../base/errors.js';
import {countMembers} from '../../../resources/bit-set.js';
import type {CpuSet} from '../../../resources/cpu-set.js';
import {chooseNumaNodes, shareOf, type ChosenNumaNodes, type Distribution} from './choose-numa-nodes.js';
import {CpuAccumulator} from './cpu-accumulator.js';
import {cpusOf, type CpuUnits} from './cpu-units.js';
import {notEnoughCpus, takePacked, type TakeRequest} from './take-packed.js';

/** CPUs to take in groups from NUMA nodes. */
export interface DistributedRequest extends Omit<TakeRequest, 'alignByUncoreCache'> {
  readonly groupSize: number;
}

/**
 * Returns CPUs that are distributed evenly over as few NUMA nodes as possible (takeByTopologyNUMADistributed). They are packed
 * if that is not possible. Throws SystemError if there are not enough.
 */
export function takeDistributed(units: CpuUnits, request: DistributedRequest): CpuSet {
  const {available, count, groupSize} = request;
  const packed = {...request, alignByUncoreCache: false};
  if (count % groupSize !== 0) return takePacked(units, packed);
  const accumulator = new CpuAccumulator(units, available, count);
  if (accumulator.isSatisfied) return 0n;
  if (accumulator.isFailed) throw notEnoughCpus(request);
  const free = new Map(
    accumulator
      .sorted('numaNode')
      .map((node) => [node, countMembers(cpusOf(units, 'numaNode', [node]) & accumulator.available)]),
  );
  const distribution = {free, count, groupSize};
  const {least, most} = rangeOfNumaNodes(units, distribution);
  for (let k = least; k <= most; k++) {
    const chosen = chooseNumaNodes(distribution, k);
    if (chosen !== undefined) return takeFrom(units, accumulator, {...packed, ...distribution, chosen});
  }
  return takePacked(units, packed);
}

/** Returns how many NUMA nodes are needed at least and at most (rangeNUMANodesNeededToSatisfy). */
function rangeOfNumaNodes(
  {all, numaNode}: CpuUnits,
  {free, count, groupSize}: Distribution,
): {readonly least: number; readonly most: number} {
  const groups = Math.ceil(countMembers(all) / groupSize);
  const needed = Math.ceil(count / groupSize);
  const perNode = Math.ceil(groups / numaNode.size);
  return {least: Math.ceil(needed / perNode), most: Math.min(needed, free.size)};
}

type ChosenRequest = TakeRequest & Distribution & {readonly chosen: ChosenNumaNodes};

function takeFrom(
  units: CpuUnits,
  accumulator: CpuAccumulator,
  {chosen: {nodes, remainderNodes}, ...request}: ChosenRequest,
): CpuSet {
  const {groupSize} = request;
  const takeOf = (node: number, count: number): void => {
    const available = cpusOf(units, 'numaNode', [node]) & accumulator.available;
    if (countMembers(available) >= count) accumulator.take(takePacked(units, {...request, available, count}));
  };
  const share = shareOf(request, nodes.length);
  for (const node of nodes) takeOf(node, share);
  let remainder = request.count - share * nodes.length;
  for (let before = Infinity; remainder > 0 && remainder < before;) {
    before = remainder;
    for (const node of remainderNodes) {
      const available = countMembers(cpusOf(units, 'numaNode', [node]) & accumulator.available);
      if (remainder === 0 || available < groupSize) continue;
      takeOf(node, groupSize);
      remainder -= groupSize;
    }
  }
  if (accumulator.needed > 0)
    throw new SystemError(`accounting error, not enough CPUs allocated, remaining: ${accumulator.needed}`);
  return accumulator.taken;
}
