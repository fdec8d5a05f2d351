import type {ListFlagValues} from './list-flags.js';
import type {NodeResult} from '../nodes/node-result.js';

/** Returns the rows of all nodes, node by node; of several nodes, sorted together if a flag asks for an order. */
export function mergeRows<T, Row>(
  results: readonly NodeResult<T>[],
  rowsOf: (value: T) => readonly Row[],
  arrange: (rows: readonly Row[]) => readonly Row[],
  {sort}: Pick<ListFlagValues, 'sort'>,
): readonly Row[] {
  const rows = results.flatMap(({value}) => rowsOf(value));
  return results.length > 1 && sort !== undefined ? arrange(rows) : rows;
}

/** Returns the entries of the maps of all nodes, which are fetched at once. */
export async function mergeMaps<T, K, V>(
  results: readonly NodeResult<T>[],
  fetch: (result: NodeResult<T>) => Promise<ReadonlyMap<K, V>>,
): Promise<ReadonlyMap<K, V>> {
  const [first, ...others] = await Promise.all(results.map(fetch));
  if (first === undefined || others.length === 0) return first ?? new Map();
  return new Map([first, ...others].flatMap((map) => [...map]));
}
