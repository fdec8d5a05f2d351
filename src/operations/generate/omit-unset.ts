/** Returns an object without members that are undefined, false, or an empty text, list or object. */
export function omitUnset<T extends object>(members: {
  readonly [Name in keyof T]?: T[Name] | undefined;
}): T {
  const set = Object.entries(members).filter(([, value]) => !isUnset(value));
  // Only members that T allows to be absent are ever empty.
  return Object.fromEntries(set) as T;
}

function isUnset(value: unknown): boolean {
  if (value === undefined || value === false || value === '') return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
