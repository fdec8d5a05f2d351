/** Returns a copy of the object without the given fields. */
export function omit<T extends object, K extends keyof T>(object: T, ...names: readonly K[]): Omit<T, K> {
  const omitted: ReadonlySet<PropertyKey> = new Set(names);
  const left = Object.entries(object).filter(([name]) => !omitted.has(name));
  return Object.fromEntries(left) as Omit<T, K>;
}
