/** Maximum number of unknown keys of a file that are reported by name. */
const MOST_NAMED = 10;

/**
 * Reports the unknown keys of a file: the first ones by name, the number of the others. Of a file without a known key,
 * which is another kind of file and may be secret, only the first one is named.
 */
export function reportUnknownKeys<T>(
  keys: readonly T[],
  hasKnownKeys: boolean,
  report: {readonly named: (key: T) => void; readonly others: (count: number) => void},
): void {
  const named = keys.slice(0, hasKnownKeys ? MOST_NAMED : 1);
  for (const key of named) report.named(key);
  if (keys.length > named.length) report.others(keys.length - named.length);
}
