import type {ManifestNode, MapNode} from './manifest-tree.js';
import type {TextRange} from './source-text.js';
import type {YamlDocument} from './yaml-tree.js';

/**
 * Where a text may hold what nobody should read in an error message: its Secrets, also those that are written so
 * wrongly that nothing else knows them for Secrets.
 */
export function secretRanges(documents: readonly YamlDocument[], text: string): readonly TextRange[] {
  // What can't be parsed has no parts.
  const unread = documents.some(({root, faults}) => root === undefined && faults.length > 0);
  if (unread && /secret|stringData/i.test(text)) return [{start: 0, end: text.length}];
  return documents.flatMap(({root}) => (root === undefined ? [] : inNode(root)));
}

function inNode(node: ManifestNode): readonly TextRange[] {
  if (node.kind !== 'map') return [];
  if (isSecret(node)) return [{start: node.offset, end: node.end}];
  const items = node.entries.get('items')?.value;
  return items?.kind === 'list' ? items.items.flatMap(inNode) : [];
}

function isSecret({entries}: MapNode): boolean {
  const kind = entries.get('kind')?.value;
  return (
    entries.has('stringData') || (kind?.kind === 'scalar' && /^secret(list)?$/i.test(String(kind.value)))
  );
}
