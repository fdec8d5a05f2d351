/** Set of small non-negative integers as a bit mask: `|`, `&`, `& ~` and `===` are its operations, `0n` is the empty one. */
export type BitSet = bigint;

const WORD = 32n;

/** Returns the set of the members. */
export function bitSet(members: Iterable<number>): BitSet {
  let set = 0n;
  for (const member of members) set |= 1n << BigInt(member);
  return set;
}

/** Returns the members in ascending order. */
export function listMembers(set: BitSet): readonly number[] {
  const members: number[] = [];
  for (let rest = set, base = 0; rest !== 0n; rest >>= WORD, base += 32)
    for (let word = Number(rest & 0xffff_ffffn); word !== 0;) {
      const bit = 31 - Math.clz32(word & -word);
      members.push(base + bit);
      word = (word ^ (1 << bit)) >>> 0;
    }
  return members;
}

/** Returns the number of members. */
export function countMembers(set: BitSet): number {
  let count = 0;
  for (let rest = set; rest !== 0n; rest >>= WORD)
    for (let word = Number(rest & 0xffff_ffffn); word !== 0; word = (word & (word - 1)) >>> 0) count++;
  return count;
}

/** Reports whether all members of the first set are in the second. */
export function isSubset(part: BitSet, whole: BitSet): boolean {
  return (part & ~whole) === 0n;
}

/** Returns the union of the sets. */
export function unite(sets: Iterable<BitSet>): BitSet {
  let union = 0n;
  for (const set of sets) union |= set;
  return union;
}
