import {compare} from '../../../base/compare.js';
import type {TopologyHint, TopologyHints} from '../../contract/node-manager.js';
import {countMembers} from '../../resources/bit-set.js';
import {compareNarrowness} from '../../resources/numa-nodes.js';

/** Result of merging the hints of all providers. */
export interface MergedHints {
  readonly affinity: TopologyHint;
  /** True if the policy admits what was asked for. */
  readonly isAdmitted: boolean;
}

/** Merges hints (topologymanager.Policy Merge). */
export type MergeHints = (hints: readonly TopologyHints[]) => MergedHints;

/** NUMA nodes of the machine. */
export interface NumaInfo {
  /** Bit mask of all. */
  readonly all: bigint;
  /** Average distance of the nodes of a mask, which decides between masks of equal size; undefined if it does not matter. */
  readonly distance: ((mask: bigint) => number) | undefined;
}

const ANY: readonly TopologyHint[] = [{numaNodes: undefined, preferred: true}];
const NONE: readonly TopologyHint[] = [{numaNodes: undefined, preferred: false}];

/** Policy `best-effort`: admits everything. */
export function mergeBestEffort(node: NumaInfo): MergeHints {
  return (hints) => ({affinity: findBest(node, listHints(hints)), isAdmitted: true});
}

/** Policy `restricted`: admits only preferred hints. */
export function mergeRestricted(node: NumaInfo): MergeHints {
  return (hints) => {
    const affinity = findBest(node, listHints(hints));
    return {affinity, isAdmitted: affinity.preferred};
  };
}

/** Policy `single-numa-node`: admits only preferred hints of one node. All nodes of the machine count as no hint. */
export function mergeSingleNumaNode({all}: NumaInfo): MergeHints {
  return (hints) => {
    const single = listHints(hints).map((list) =>
      list.filter(
        ({numaNodes, preferred}) => preferred && (numaNodes === undefined || countMembers(numaNodes) === 1),
      ),
    );
    const {numaNodes, preferred} = findBest({all, distance: undefined}, single);
    const affinity = {numaNodes: numaNodes === all ? undefined : numaNodes, preferred};
    return {affinity, isAdmitted: preferred};
  };
}

/** Returns one list per resource; one without an opinion takes any nodes (filterProvidersHints). */
function listHints(hints: readonly TopologyHints[]): readonly (readonly TopologyHint[])[] {
  return hints.flatMap((ofProvider) =>
    ofProvider.size === 0
      ? [ANY]
      : [...ofProvider.values()].map((list) => (list?.length === 0 ? NONE : (list ?? ANY))),
  );
}

/**
 * Returns the best of all combinations of one hint per list (HintMerger). A combination has the nodes that all its hints have,
 * and is preferred if all are, and are equal. The order of the combinations does not matter, since those that differ are
 * totally ordered; so sets of masks are combined, which are far fewer.
 */
function findBest(node: NumaInfo, lists: readonly (readonly TopologyHint[])[]): TopologyHint {
  const preferred = minimum(preferredMasks(node, lists), (mask) => fitness(node, mask));
  if (preferred !== undefined) return {numaNodes: preferred, preferred: true};
  const target = nonPreferredCount(lists);
  const other = minimum(commonMasks(node, lists), (mask) => [
    ...closeness(countMembers(mask), target),
    ...fitness(node, mask),
  ]);
  return {numaNodes: other ?? node.all, preferred: false};
}

/** Returns the masks of preferred combinations. */
function preferredMasks({all}: NumaInfo, lists: readonly (readonly TopologyHint[])[]): readonly bigint[] {
  let masks = new Set<bigint | undefined>([undefined]);
  for (const list of lists) {
    const own = new Set(list.filter(({preferred}) => preferred).map(({numaNodes}) => numaNodes));
    const equal = [...masks].filter((mask) => own.has(undefined) || (mask !== undefined && own.has(mask)));
    masks = new Set([...equal, ...(masks.has(undefined) ? own : [])]);
  }
  return withinMachine(all, masks);
}

/** Returns the masks of all combinations. */
function commonMasks({all}: NumaInfo, lists: readonly (readonly TopologyHint[])[]): readonly bigint[] {
  let masks = new Set<bigint>([all]);
  for (const list of lists) {
    const own = new Set(list.map(({numaNodes}) => numaNodes ?? all));
    const common = new Set<bigint>();
    for (const mask of masks) for (const other of own) common.add(mask & other);
    masks = common;
  }
  return withinMachine(all, masks);
}

function withinMachine(all: bigint, masks: Iterable<bigint | undefined>): readonly bigint[] {
  return [...masks].map((mask) => (mask ?? all) & all).filter((mask) => mask !== 0n);
}

/** Returns the size that a hint which is not preferred should have: no resource has a smaller hint than its own narrowest. */
function nonPreferredCount(lists: readonly (readonly TopologyHint[])[]): number {
  const narrowest = lists.flatMap((list) => {
    const counts = list.flatMap(({numaNodes}) => (numaNodes === undefined ? [] : [countMembers(numaNodes)]));
    return counts.length === 0 ? [] : [Math.min(...counts)];
  });
  return Math.max(0, ...narrowest);
}

/** Ranks sizes: the target, then smaller ones from large to small, then larger ones. */
function closeness(count: number, target: number): readonly number[] {
  if (count === target) return [0, 0];
  return count < target ? [1, -count] : [2, count];
}

/** Ranks masks: fewer nodes, then closer ones if that matters. Equal ranks are decided by the lower mask. */
function fitness({distance}: NumaInfo, mask: bigint): readonly number[] {
  return [countMembers(mask), distance?.(mask) ?? 0];
}

function minimum(masks: readonly bigint[], rankOf: (mask: bigint) => readonly number[]): bigint | undefined {
  return masks
    .map((mask) => ({mask, rank: rankOf(mask)}))
    .reduce<{readonly mask: bigint; readonly rank: readonly number[]} | undefined>(
      (best, each) => (best === undefined || compareRanked(each, best) < 0 ? each : best),
      undefined,
    )?.mask;
}

type Ranked = Readonly<{mask: bigint; rank: readonly number[]}>;

function compareRanked(a: Ranked, b: Ranked): number {
  for (const [index, value] of a.rank.entries()) {
    const order = compare(value, b.rank[index] ?? 0);
    if (order !== 0) return order;
  }
  return compareNarrowness(a.mask, b.mask);
}
