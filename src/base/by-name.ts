interface Named {
  readonly name: string;
}

/** Length up to which a list is searched without an index. */
const SHORT = 16;

const indexes = new WeakMap<readonly Named[], ReadonlyMap<string, readonly Named[]>>();

/** Returns the first item with the name. See filterByName. */
export function findByName<T extends Named>(items: readonly T[], name: string): T | undefined {
  return filterByName(items, name)[0];
}

/**
 * Returns the items with the name, in their order. A long list is indexed at the first search, so that looking up each
 * name takes linear time in total; the list must not change after that.
 */
export function filterByName<T extends Named>(items: readonly T[], name: string): readonly T[] {
  if (items.length <= SHORT) return items.filter((item) => item.name === name);
  let index = indexes.get(items) as ReadonlyMap<string, readonly T[]> | undefined;
  if (index === undefined) {
    index = groupByName(items);
    indexes.set(items, index);
  }
  return index.get(name) ?? [];
}

/** Groups items by name, in the order of their names' first occurrence. */
export function groupByName<T extends Named>(items: readonly T[]): ReadonlyMap<string, readonly T[]> {
  return groupBy(items, ({name}) => name);
}

/** Groups items by what `keyOf` returns for them, in the order of its first occurrence. */
export function groupBy<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
