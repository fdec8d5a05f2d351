import {EmptyValueError, UsageError} from '../../base/errors.js';
import {parseSince} from '../../operations/logs/parse-since.js';
import type {ImagePruneQuery} from '../../operations/prune/image-pruner.js';

/** Parses the filters of `image prune`: `until=TIME`, `label=KEY` and `label=KEY=VALUE`. Throws UsageError. */
export function parseImageFilters(
  filters: readonly string[],
  nowMs: number,
): Pick<ImagePruneQuery, 'builtBeforeMs' | 'labels'> {
  const labels = new Map<string, string | undefined>();
  let builtBeforeMs: number | undefined;
  for (const filter of filters) {
    const [, name, value = ''] = /^(until|label)=(.*)$/s.exec(filter) ?? [];
    if (name === undefined)
      throw new UsageError(`invalid --filter "${filter}"`, {
        hint: 'use until=TIME, label=KEY or label=KEY=VALUE',
      });
    if (value === '') throw new EmptyValueError(`"${name}" in --filter`);
    if (name === 'until') builtBeforeMs = Number(parseSince(value, nowMs, 'filter until') / 1_000_000n);
    else {
      const [key = '', ...text] = value.split('=');
      labels.set(key, text.length === 0 ? undefined : text.join('='));
    }
  }
  return {builtBeforeMs, labels};
}
