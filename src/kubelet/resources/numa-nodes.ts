import {compare} from '../../base/compare.js';
import {bitSet, countMembers, type BitSet} from './bit-set.js';

/** Compares two sets of NUMA nodes: fewer nodes first, then lower ones (bitmask IsNarrowerThan). */
export function compareNarrowness(a: BitSet, b: BitSet): number {
  return compare(countMembers(a), countMembers(b)) || compare(a, b);
}

/** Returns all combinations of the nodes: smaller ones first, then in the order of the nodes (IterateBitMasks). */
export function numaCombinations(nodes: readonly number[]): readonly BitSet[] {
  const bits = nodes.map((node) => bitSet([node]));
  return bits.flatMap((_bit, index) => combine(bits, index + 1));
}

function combine(bits: readonly BitSet[], size: number): readonly BitSet[] {
  if (size === 0) return [0n];
  return bits.flatMap((bit, index) => combine(bits.slice(index + 1), size - 1).map((rest) => bit | rest));
}
