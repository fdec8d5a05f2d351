/** For sorting: numbers by size, texts by their UTF-16 code units. */
export function compare<T extends string | bigint | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** For sorting an object's entries by their keys, as Go's maps are shown. */
export function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return compare(a, b);
}
