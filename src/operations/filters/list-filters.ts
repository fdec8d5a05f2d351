import {compare} from '../../base/compare.js';
import {messageOf, UsageError} from '../../base/errors.js';
import {goQuote} from '../../format/go-quote.js';
import {isFullId} from './full-id.js';
import {compileGoRegexp, type TextPattern} from './go-regexp.js';

/** Compiles an unanchored pattern in Go's syntax; undefined for no pattern. Rejects with UsageError with crictl's text. */
export async function parseNamePattern(pattern: string | undefined): Promise<TextPattern | undefined> {
  if (pattern === undefined || pattern === '') return undefined;
  try {
    return await compileGoRegexp(pattern);
  } catch (error) {
    throw new UsageError(`invalid regular expression ${goQuote(pattern)}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Reports whether a text contains the pattern; true without a pattern. */
export function matchesPattern(pattern: TextPattern | undefined, text: string): boolean {
  return pattern === undefined || pattern.test(text);
}

/** Parses labels from `key=value` flags. Throws UsageError with crictl's text, after `context`, for anything else. */
export function parseLabels(flags: readonly string[] = [], context = ''): Readonly<Record<string, string>> {
  return Object.fromEntries(
    flags.map((flag) => {
      const [key = '', value, ...rest] = flag.split('=');
      if (value === undefined || rest.length > 0)
        throw new UsageError(`${context}incorrectly specified label: ${flag}`);
      return [key, value];
    }),
  );
}

/** Returns the limit set by `--latest` or `--last N`; undefined for none. 0 and negative numbers mean no limit. */
export function limitFromFlags(flags: {
  readonly latest?: boolean;
  readonly last?: number | undefined;
}): number | undefined {
  if (flags.last !== undefined && flags.last > 0) return flags.last;
  return flags.latest === true ? 1 : undefined;
}

interface Created {
  readonly createdAt: bigint;
}

/** Sorts by creation time, newest first, and returns the first `limit` items. */
export function sortNewestFirst<T extends Created>(
  items: readonly T[],
  limit: number | undefined,
): readonly T[] {
  // Numbers compare faster than bigints, which decide between equal numbers.
  const timed = items.map((item) => ({item, at: Number(item.createdAt)}));
  timed.sort((a, b) => b.at - a.at || compare(b.item.createdAt, a.item.createdAt));
  const sorted = timed.map(({item}) => item);
  return limit === undefined ? sorted : sorted.slice(0, limit);
}

/** Reports whether `labels` contain all labels of the selector. */
export function hasLabels(
  labels: Readonly<Record<string, string>>,
  selector: Readonly<Record<string, string>> | undefined,
): boolean {
  return selector === undefined || Object.entries(selector).every(([key, value]) => labels[key] === value);
}

/** Returns a filter for the runtime that selects a single full ID; no filter for anything else. */
export function idFilter<Id>(refs: readonly string[], brand: (raw: string) => Id): {readonly id?: Id} {
  const [ref = ''] = refs;
  return refs.length === 1 && isFullId(ref) ? {id: brand(ref)} : {};
}
