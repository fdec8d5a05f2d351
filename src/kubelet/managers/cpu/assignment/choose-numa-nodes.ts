import {visitCombinations} from './combinations.js';

/** What is to be distributed over NUMA nodes. */
export interface Distribution {
  /** Available CPUs by NUMA node, in the order in which the nodes are tried. */
  readonly free: ReadonlyMap<number, number>;
  readonly count: number;
  /** Number of CPUs that stay together: those of a core, or 1. */
  readonly groupSize: number;
}

/** NUMA nodes that each give the same number of CPUs, and those that give what remains in groups. */
export interface ChosenNumaNodes {
  readonly nodes: readonly number[];
  readonly remainderNodes: readonly number[];
}

interface Balanced {
  readonly balance: number;
  readonly remainderNodes: readonly number[];
}

/**
 * Chooses k NUMA nodes after which the free CPUs of all are distributed best; undefined if no k nodes have enough
 * (takeByTopologyNUMADistributed).
 */
export function chooseNumaNodes(request: Distribution, k: number): ChosenNumaNodes | undefined {
  const best: {balance: number; chosen?: ChosenNumaNodes} = {balance: Infinity};
  visitCombinations([...request.free.keys()], k, (nodes) => {
    if (best.balance === 0) return false;
    const found = balanceOf(request, nodes);
    if (found !== undefined && found.balance < best.balance) {
      best.balance = found.balance;
      best.chosen = {nodes, remainderNodes: found.remainderNodes};
    }
    return true;
  });
  return best.chosen;
}

/** Returns the number of CPUs that each of k NUMA nodes gives in whole groups. */
export function shareOf({count, groupSize}: Distribution, k: number): number {
  return Math.trunc(Math.trunc(count / k) / groupSize) * groupSize;
}

/** Returns the best balance of the free CPUs after NUMA nodes gave theirs; undefined if they have not enough. */
function balanceOf(request: Distribution, nodes: readonly number[]): Balanced | undefined {
  const {free, count, groupSize} = request;
  const share = shareOf(request, nodes.length);
  const own = nodes.map((node) => free.get(node) ?? 0);
  if (sum(own) < count || sum(own.map((size) => wholeGroups(size, groupSize))) < count) return undefined;
  if (own.some((size) => size < share)) return undefined;
  const rest = new Map(free);
  for (const node of nodes) rest.set(node, (free.get(node) ?? 0) - share);
  const remainder = count - share * nodes.length;
  if (remainder === 0) return {balance: standardDeviation([...rest.values()]), remainderNodes: []};
  return distributeRemainder(request, {rest, nodes, remainder});
}

/** Remainder to take from NUMA nodes, and the CPUs that are free before. */
interface Remainder {
  readonly rest: ReadonlyMap<number, number>;
  readonly nodes: readonly number[];
  readonly remainder: number;
}

/** Tries the subsets of NUMA nodes for the remainder, large ones first. */
function distributeRemainder(
  {groupSize}: Distribution,
  {rest, nodes, remainder}: Remainder,
): Balanced | undefined {
  const able = nodes.filter((node) => (rest.get(node) ?? 0) >= groupSize);
  const best: {balance: number; remainderNodes?: readonly number[]} = {balance: Infinity};
  for (let k = able.length; k >= 1; k--)
    visitCombinations(able, k, (subset) => {
      const after = takeRoundRobin(new Map(rest), {subset, remainder, groupSize});
      if (after === undefined) return true;
      const balance = standardDeviation([...after.values()]);
      if (balance < best.balance) Object.assign(best, {balance, remainderNodes: subset});
      return true;
    });
  const {balance, remainderNodes} = best;
  return remainderNodes && {balance, remainderNodes};
}

/** Takes the remainder, one group at a time; undefined if the NUMA nodes have not enough whole groups. */
function takeRoundRobin(
  free: Map<number, number>,
  {
    subset,
    remainder,
    groupSize,
  }: {readonly subset: readonly number[]; readonly remainder: number; readonly groupSize: number},
): ReadonlyMap<number, number> | undefined {
  if (sum(subset.map((node) => wholeGroups(free.get(node) ?? 0, groupSize))) < remainder) return undefined;
  let missing = remainder;
  while (missing > 0)
    for (const node of subset) {
      const size = free.get(node) ?? 0;
      if (missing === 0 || size < groupSize) continue;
      free.set(node, size - groupSize);
      missing -= groupSize;
    }
  return free;
}

function wholeGroups(size: number, groupSize: number): number {
  return size - (size % groupSize);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Returns the standard deviation, rounded to three decimals as its mean is. */
function standardDeviation(values: readonly number[]): number {
  const mean = round(sum(values) / values.length);
  return round(Math.sqrt(sum(values.map((value) => (value - mean) ** 2)) / values.length));
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
