import type {ManifestNode, MapNode} from './manifest-node.js';

/** Returns the value at a path of field names; undefined if it is absent. */
export function findField(
  node: ManifestNode | undefined,
  ...names: readonly string[]
): ManifestNode | undefined {
  let value = node;
  for (const name of names) value = value?.kind === 'map' ? value.entries.get(name)?.value : undefined;
  return value;
}

/** Returns the scalar at a path as text; undefined if it is absent, null, or no scalar. */
export function findText(node: ManifestNode | undefined, ...names: readonly string[]): string | undefined {
  const value = findField(node, ...names);
  return value?.kind === 'scalar' && value.value !== null ? String(value.value) : undefined;
}

/** Returns the items of the list at a path; empty if it is absent or no list. */
export function findItems(
  node: ManifestNode | undefined,
  ...names: readonly string[]
): readonly ManifestNode[] {
  const value = findField(node, ...names);
  return value?.kind === 'list' ? value.items : [];
}

/** Returns a map with a field set to a value, or without it if the value is undefined. */
export function withField(node: MapNode, name: string, value: ManifestNode | undefined): MapNode {
  const entries = new Map(node.entries);
  if (value === undefined) entries.delete(name);
  else entries.set(name, {keyOffset: entries.get(name)?.keyOffset ?? value.offset, value});
  return {...node, entries};
}

/** Returns a map in which the value at a path, if it is a map, has been replaced. */
export function changeMap(
  node: MapNode,
  [name, ...rest]: readonly string[],
  change: (value: MapNode) => MapNode,
): MapNode {
  if (name === undefined) return change(node);
  const value = findField(node, name);
  return value?.kind === 'map' ? withField(node, name, changeMap(value, rest, change)) : node;
}

/** Returns a map in which each item of a list that is a map has been replaced; undefined removes the item. */
export function changeItems(
  node: MapNode,
  name: string,
  change: (item: MapNode, index: number) => MapNode | undefined,
): MapNode {
  const list = findField(node, name);
  if (list?.kind !== 'list') return node;
  const items = list.items.map((item, index) => (item.kind === 'map' ? change(item, index) : item));
  if (items.every((item, index) => item === list.items[index])) return node;
  const left = items.filter((item) => item !== undefined);
  return withField(node, name, left.length === 0 ? undefined : {...list, items: left});
}
