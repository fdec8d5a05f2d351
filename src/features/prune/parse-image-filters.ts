import {EmptyValueError, UsageError} from '../../base/errors.js';
import {parseSince} from '../../operations/logs/parse-since.js';
import type {ImagePruneQuery} from '../../operations/prune/image-pruner.js';

/**
 * Parses the filters of `image prune`: `until=TIME`, `label=KEY`, `label=KEY=VALUE`, and docker's `dangling=false`, which
 * means all images. Throws UsageError.
 */
export function parseImageFilters(
  filters: readonly string[],
  nowMs: number,
): Pick<ImagePruneQuery, 'builtBeforeMs' | 'labels'> & {readonly all: boolean} {
  const labels = new Map<string, string | undefined>();
  let builtBeforeMs: number | undefined;
  let all = false;
  for (const filter of filters) {
    const [, name, value = ''] = /^(until|label|dangling)=(.*)$/s.exec(filter) ?? [];
    if (name === undefined)
      throw new UsageError(`invalid --filter "${filter}"`, {
        hint: 'use until=TIME, label=KEY, label=KEY=VALUE or dangling=false',
      });
    if (value === '') throw new EmptyValueError(`"${name}" in --filter`);
    if (name === 'dangling') all = parseDangling(value);
    else if (name === 'until') builtBeforeMs = Number(parseSince(value, nowMs, 'filter until') / 1_000_000n);
    else {
      const [key = '', ...text] = value.split('=');
      labels.set(key, text.length === 0 ? undefined : text.join('='));
    }
  }
  return {builtBeforeMs, labels, all};
}

/** Returns the time in the filters of `system prune`, of which docker's `until=TIME` has a meaning. Throws UsageError. */
export function parseUntilFilter(filters: readonly string[]): string | undefined {
  const times = filters.map((filter) => {
    const [, time = ''] = /^until=(.+)$/s.exec(filter) ?? [];
    if (time !== '') return time;
    throw new UsageError(`invalid --filter "${filter}": must be until=TIME`, {
      hint: 'use "kcri image prune" to select images by their labels',
    });
  });
  return times.at(-1);
}

/** Returns whether images with a tag are wanted too. */
function parseDangling(value: string): boolean {
  if (/^(true|1)$/i.test(value)) return false;
  if (/^(false|0)$/i.test(value)) return true;
  throw new UsageError(`invalid --filter "dangling=${value}": must be true or false`);
}
