/** Compares two values for sorting: numbers by size, strings by UTF-16 code units. */
export function compare<T extends string | bigint | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Compares two entries by key, the order in which Go prints maps. */
export function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return compare(a, b);
}
