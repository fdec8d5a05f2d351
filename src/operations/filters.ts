import {compare} from '../base/compare.js';
import {messageOf, UsageError} from '../base/errors.js';
import {goRegexp} from './go-regexp.js';

/** An unanchored pattern in Go's syntax; undefined when there is none. Throws UsageError in crictl's words. */
export function namePattern(pattern: string | undefined): RegExp | undefined {
  if (pattern === undefined || pattern === '') return undefined;
  try {
    return goRegexp(pattern);
  } catch (error) {
    throw new UsageError(`invalid regular expression "${pattern}": ${messageOf(error)}`, {cause: error});
  }
}

/** True when there is no pattern or it occurs in the text. */
export function matches(pattern: RegExp | undefined, text: string): boolean {
  return pattern === undefined || pattern.test(text);
}

/** The labels of `key=value` flags. Throws UsageError for anything else, in crictl's words. */
export function parseLabels(flags: readonly string[] = []): Readonly<Record<string, string>> {
  return Object.fromEntries(
    flags.map((flag) => {
      const [key = '', value, ...rest] = flag.split('=');
      if (value === undefined || rest.length > 0)
        throw new UsageError(`incorrectly specified label: ${flag}`);
      return [key, value];
    }),
  );
}

/** How many of a list `--latest` and `--last N` leave; 0 and less means all. */
export function limitOf(flags: {
  readonly latest?: boolean;
  readonly last?: number | undefined;
}): number | undefined {
  if (flags.last !== undefined && flags.last > 0) return flags.last;
  return flags.latest === true ? 1 : undefined;
}

interface Created {
  readonly createdAt: bigint;
}

/** Newest first, and only the first `limit` of them. */
export function newestFirst<T extends Created>(items: readonly T[], limit: number | undefined): readonly T[] {
  // As numbers, which are quicker to compare, and exactly when those are the same.
  const timed = items.map((item) => ({item, at: Number(item.createdAt)}));
  timed.sort((a, b) => b.at - a.at || compare(b.item.createdAt, a.item.createdAt));
  const sorted = timed.map(({item}) => item);
  return limit === undefined ? sorted : sorted.slice(0, limit);
}

/** True when every label of the selector is there. */
export function hasLabels(
  labels: Readonly<Record<string, string>>,
  selector: Readonly<Record<string, string>> | undefined,
): boolean {
  return selector === undefined || Object.entries(selector).every(([key, value]) => labels[key] === value);
}

/** True for a whole id as every known runtime makes them. */
export function isFullId(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
